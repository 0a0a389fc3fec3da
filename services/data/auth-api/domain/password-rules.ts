/** Maximum length of a password. bcrypt ignores further bytes, which must not appear to add security. */
export const maxPasswordBytes = 72;

/** Returns the reasons and text for a weak password; undefined for an accepted one. */
export function findWeakness(password: string, minimum: number): { reasons: string[]; detail: string } | undefined {
  if (Buffer.byteLength(password) >= minimum) return undefined;
  return { reasons: ['length'], detail: `Password should be at least ${minimum} characters.` };
}
