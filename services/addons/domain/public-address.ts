const privateV4 =
  /^(?:0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^(?:22[4-9]|2[3-5]\d)\./;

/** Whether an IP address is one the world knows a household by. */
export function isPublicAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, '');
  if (plain.includes(':')) return /^[23][0-9a-f]{3}:/.test(plain);
  return !privateV4.test(plain);
}
