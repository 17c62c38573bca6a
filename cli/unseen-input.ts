import type { ReadStream } from 'node:tty';

/** Larger than any secret may be: what goes on after that is refused anyway. */
const MOST_BYTES = 1_048_576;

export async function readAll(stream: NodeJS.ReadableStream): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > MOST_BYTES) break;
  }
  return Buffer.concat(chunks);
}

const [CTRL_C, CTRL_D, BACKSPACE, DELETE] = ['\u0003', '\u0004', '\b', '\u007f'];

/** One line that is typed and does not show. */
export function typedUnseen(question: string, input: ReadStream, output: NodeJS.WritableStream): Promise<Uint8Array> {
  output.write(question);
  input.setRawMode(true).setEncoding('utf8').resume();
  let typed = '';
  return new Promise((resolve, reject) => {
    const end = (): void => {
      input.off('data', take).setRawMode(false).pause();
      output.write('\n');
    };
    const take = (text: string): void => {
      for (const letter of text) {
        if (letter === CTRL_C) {
          end();
          reject(new Error('nothing was set'));
          return;
        }
        if (letter === '\r' || letter === '\n' || letter === CTRL_D) {
          end();
          resolve(Buffer.from(typed));
          return;
        }
        if (letter === BACKSPACE || letter === DELETE) typed = typed.slice(0, -1);
        else typed += letter;
      }
    };
    input.on('data', take);
  });
}
