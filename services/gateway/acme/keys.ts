import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { JWK } from 'jose';

/** Generates a P-256 key and returns it as PKCS #8 in PEM. */
export function generateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns the public key as JSON Web Key. */
export function getPublicJwk(key: string): JWK {
  return createPublicKey(createPrivateKey(key)).export({ format: 'jwk' });
}

/** Creates a certificate request for host names (RFC 2986), in DER. */
export async function createRequest(key: string, names: readonly string[]): Promise<Buffer> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const privateKey = await crypto.subtle.importKey('pkcs8', toDer(key), algorithm, false, ['sign']);
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  const publicKey = await crypto.subtle.importKey('spki', new Uint8Array(spki), algorithm, true, ['verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys: { privateKey, publicKey },
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))],
  });
  return Buffer.from(request.rawData);
}

function toDer(key: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createPrivateKey(key).export({ type: 'pkcs8', format: 'der' }));
}
