import { SetMetadata } from '@nestjs/common';

const TOOL = 'everdict:tool';

/** What MCP says of a route beyond what its other decorators already say. */
export interface ToolInfo {
  /** A verb and a noun: `list_runtimes`. */
  name: string;
  /** `read` changes nothing; `write` adds or changes; `destroy` stops, removes or overrules something. */
  effect: 'read' | 'write' | 'destroy';
  /** The same call again changes nothing more. What reads is so anyway. */
  isIdempotent?: boolean;
  /** The argument that is the whole body. Absent: every field of the body is an argument of its own. */
  body?: string;
  /** The argument that has to be typed again, as `confirm`: what `destroy`s has one. */
  confirm?: string;
  /** Texts of others are what it is called for: they are shown unasked. */
  isContent?: boolean;
  /** Parameters of the route that are no arguments. */
  omit?: readonly string[];
}

/** The tool of a route over MCP. */
export const Tool = (info: ToolInfo): MethodDecorator => SetMetadata(TOOL, info);

export const toolInfoOf = (handler: object): ToolInfo | undefined => Reflect.getMetadata(TOOL, handler);
