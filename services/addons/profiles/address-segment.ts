/** Credential of an install address. */
interface SealedProfile {
  readonly uuid: string;
  readonly encryptedPassword: string;
}

const segmentVersion = 1;

/** Encodes ID and sealed password as one path segment, which is the credential of the install address. */
export function encodeAddressSegment({ uuid, encryptedPassword }: SealedProfile): string {
  const header = Buffer.from([segmentVersion, ...Buffer.from(uuid.replaceAll('-', ''), 'hex')]);
  return Buffer.concat([header, Buffer.from(encryptedPassword, 'base64url')]).toString('base64url');
}

/** Decodes a path segment of {@link encodeAddressSegment}. Returns undefined for other segments. */
export function decodeAddressSegment(segment: string): SealedProfile | undefined {
  if (!/^A[\w-]{50,600}$/.test(segment)) return undefined;
  const bytes = Buffer.from(segment, 'base64url');
  if (bytes[0] !== segmentVersion) return undefined;
  const uuid = bytes
    .subarray(1, 17)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { uuid, encryptedPassword: bytes.subarray(17).toString('base64url') };
}
