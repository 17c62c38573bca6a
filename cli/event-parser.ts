/** One Server-Sent Event. */
export interface ServerEvent {
  event: string;
  /** Of the last event that had one, to resume after it. */
  id: string;
  data: string;
}

const FIELD = /^([^:]*)(?:: ?(.*))?$/;

/** Reads `text/event-stream`. What is cut off at the end is no event. */
export async function* parseEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let fields: Record<string, string> = {};
  let id = '';
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        id = fields.id ?? id;
        if (fields.data !== undefined) yield { event: fields.event ?? 'message', id, data: fields.data };
        fields = {};
        continue;
      }
      const [, name = '', value = ''] = FIELD.exec(line) ?? [];
      if (name !== '') fields[name] = fields[name] === undefined ? value : `${fields[name]}\n${value}`;
    }
  }
}
