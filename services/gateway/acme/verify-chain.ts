import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

const pemEnd = '-----END CERTIFICATE-----';

/** Certificate that was verified. */
export interface VerifiedCertificate {
  readonly chain: string;
  readonly madeAt: number;
  readonly expiresAt: number;
  readonly issuer: string;
}

/**
 * Verifies a downloaded chain before it replaces the previous certificate: names, key, dates, and that each certificate
 * was issued by the next one.
 * @throws Error with the reason
 */
export function verifyChain(
  pem: string,
  { key, names, now }: { readonly key: string; readonly names: readonly string[]; readonly now: number },
): VerifiedCertificate {
  const blocks = pem.split(pemEnd).filter((block) => block.trim() !== '');
  const certificates = blocks.map((block) => new X509Certificate(`${block}${pemEnd}`));
  const [leaf, ...issuers] = certificates;
  if (leaf === undefined) throw new Error('no certificate');
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('other key');
  const covered = (leaf.subjectAltName ?? '').split(', ').map((name) => name.replace(/^DNS:/, '').toLowerCase());
  const missing = names.filter((name) => !covered.includes(name));
  if (missing.length > 0) throw new Error(`missing names: ${missing.join(', ')}`);
  const [madeAt, expiresAt] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()];
  if (expiresAt <= now) throw new Error(`expired on ${leaf.validTo}`);
  for (const [index, issuer] of issuers.entries()) {
    const subject = certificates[index];
    if (subject?.checkIssued(issuer) !== true || !subject.verify(issuer.publicKey)) throw new Error('broken chain');
  }
  createSecureContext({ cert: pem, key });
  const issuer = /^(?:O|CN)=(.+)$/m.exec(leaf.issuer)?.[1] ?? '';
  return { chain: pem, madeAt, expiresAt, issuer };
}
