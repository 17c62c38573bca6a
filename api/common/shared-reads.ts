/** Lets those who ask for the same thing at the same time share one read. Nothing is kept once it has been read. */
export class SharedReads<Result> {
  private readonly underWay = new Map<string, Promise<Result>>();

  read(key: string, load: () => Promise<Result>): Promise<Result> {
    const shared = this.underWay.get(key);
    if (shared) return shared;
    const reading = load().finally(() => this.underWay.delete(key));
    this.underWay.set(key, reading);
    return reading;
  }
}
