import { CliError } from './failures.js';
import type { Session } from './session.js';
import { plain } from './text.js';
import { WhoAmIReply } from './wire.js';

/** A line with the link to a workflow in the Temporal UI; empty where nobody said where that is, and in JSON. */
export async function workflowLink(session: Session, workflowId: string): Promise<string> {
  if (session.isJson) return '';
  try {
    const { reply } = await session.client.get('/whoami', WhoAmIReply);
    return reply.temporalUi ? `\nin Temporal: ${plain(reply.temporalUi)}${encodeURIComponent(workflowId)}\n` : '';
  } catch (error) {
    if (error instanceof CliError) return '';
    throw error;
  }
}
