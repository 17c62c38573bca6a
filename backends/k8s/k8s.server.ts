/** What is wrong with the address of an API server; nothing, mostly. */
export function faultsOfServer(text: string): string[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return ['is not an https URL'];
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return ['is not an https URL'];
  if (url.username || url.password || text.includes('@')) return ['holds user information: give a credential instead'];
  if (/[?#\\\s]/.test(text)) return ['is more than an address: a query or fragment is not allowed'];
  return [];
}
