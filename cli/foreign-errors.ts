/** Field of a thrown value, whatever made it: errors of Node are not instances of our `Error` in every realm. */
function fieldOf(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}

const textField = (error: unknown, name: string): string => {
  const field = fieldOf(error, name);
  return typeof field === 'string' ? field : '';
};

/** `ENOENT` and the like, else empty. */
export const codeOf = (error: unknown): string => textField(error, 'code');

export const messageOf = (error: unknown): string => textField(error, 'message') || String(error);

/** Why a `fetch` failed, in a word where there is one: its own message says nothing. */
export function fetchFailure(error: unknown): string {
  if (textField(error, 'name') === 'TimeoutError') return 'no answer in time';
  const cause = fieldOf(error, 'cause');
  const first = fieldOf(cause, 'errors');
  const root = Array.isArray(first) ? first[0] : cause;
  return codeOf(root) || messageOf(root ?? error);
}
