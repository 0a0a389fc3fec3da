/** Of bcrypt: what other programs, such as ntfy, keep of a password. `$2a$`, `$2b$` and `$2y$` are the same to us. */
const form = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/;
/** log2 of the rounds. Each step doubles the work, and one that came with an import must not hold the machine. */
const largestCost = 13;
/** What bcrypt looks at; no password that it was made of is longer. Bytes. */
const longestPassword = 72;

export function isBcryptHash(text: string): boolean {
  const cost = Number(form.exec(text)?.[1] ?? 0);
  return cost >= 4 && cost <= largestCost;
}

/** Works in slices, so that others get their turn; loaded by the first of these hashes. */
export async function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  if (Buffer.byteLength(password) > longestPassword) return false;
  const { default: bcrypt } = await import('bcryptjs');
  return bcrypt.compare(password, hash);
}
