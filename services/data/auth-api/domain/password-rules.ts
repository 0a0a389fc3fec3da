/** bcrypt looks at no more, and what it would not look at must not seem to protect. Bytes. */
export const longestPassword = 72;

/** Why a password is too weak, for a program and for people; undefined when it is not. */
export function weakness(password: string, minimum: number): { reasons: string[]; detail: string } | undefined {
  if (Buffer.byteLength(password) >= minimum) return undefined;
  return { reasons: ['length'], detail: `Password should be at least ${minimum} characters.` };
}
