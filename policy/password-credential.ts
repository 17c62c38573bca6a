/** What is sent as a user and a password. */
export interface PasswordCredential {
  username: string;
  password: string;
}

/** A value is `user:password`, or a token alone, which goes as the password of `tokenUser`. */
export function passwordCredentialOf(value: string, tokenUser: string): PasswordCredential {
  const colon = value.indexOf(':');
  if (colon < 0) return { username: tokenUser, password: value };
  return { username: value.slice(0, colon), password: value.slice(colon + 1) };
}
