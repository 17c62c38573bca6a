/** A file of a rotated log, as a node lists it. */
export interface LogFile {
  index: number;
  bytes: number;
}

const NAME = /\.(stdout|stderr)\.(\d{1,9})$/;

/** Number of a rotated file, from 0; the newest has the highest. */
export function logFileIndex(name: string): number | undefined {
  const [, , index] = NAME.exec(name) ?? [];
  return index === undefined ? undefined : Number(index);
}

/**
 * Where the files of a rotated log stand in what the job wrote. A file that was followed from its beginning is known;
 * one whose predecessors went unseen stands as far on as they can have reached, for none is longer than `fileBytes`:
 * then something may be there twice, and nothing is passed over.
 */
export class LogFiles {
  private readonly starts = new Map<number, number>([[0, 0]]);
  private first = 0;

  constructor(private readonly fileBytes: number) {}

  /** The oldest file that was there when last looked for: where the server's offsets count from. */
  get oldest(): number {
    return this.first;
  }

  startOf(index: number): number {
    const known = this.starts.get(index);
    if (known !== undefined) return known;
    // That of 0 is always known.
    const before = Math.max(...[...this.starts.keys()].filter((other) => other < index));
    return (this.starts.get(before) ?? 0) + (index - before) * this.fileBytes;
  }

  /** A file begins there. */
  note(index: number, start: number): void {
    this.starts.set(index, start);
  }

  /** Files before it are gone. */
  begin(oldest: number): void {
    this.note(oldest, this.startOf(oldest));
    this.first = oldest;
  }

  /** What a node lists of them, in order. Answers with the end of the newest. */
  list(files: readonly LogFile[]): number {
    const [oldest] = files;
    if (!oldest) return 0;
    this.begin(oldest.index);
    let end = this.startOf(oldest.index);
    for (const { index, bytes } of files) {
      this.note(index, end);
      end += bytes;
    }
    return end;
  }

  /** The file with the byte at an offset, as far as files are known. */
  at(offset: number): number {
    let found = this.first;
    for (const [index, start] of this.starts) if (start <= offset && index > found) found = index;
    return found;
  }
}
