/** Whether a URL carries a user or a password, which would be printed and logged wherever the URL is. */
export function hasUserInfo(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}
