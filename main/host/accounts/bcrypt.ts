/** Format of bcrypt hashes of other programs, such as ntfy. `$2a$`, `$2b$` and `$2y$` are equivalent. */
const hashFormat = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/;
/** Maximum log2 of the rounds. Each step doubles the work, and an imported hash must not block the computer. */
const maxCost = 13;
/** Maximum length of a password in bytes; bcrypt ignores the rest. */
const maxPasswordBytes = 72;

export function isBcryptHash(text: string): boolean {
  const cost = Number(hashFormat.exec(text)?.[1] ?? 0);
  return cost >= 4 && cost <= maxCost;
}

/** Verifies a hash in slices, without blocking the event loop; bcrypt is loaded on first use. */
export async function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  if (Buffer.byteLength(password) > maxPasswordBytes) return false;
  const { default: bcrypt } = await import('bcryptjs');
  return bcrypt.compare(password, hash);
}
