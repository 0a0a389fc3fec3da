import { randomBytes } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const validityMs = 2 * 24 * 60 * 60 * 1000;

async function generate(): Promise<SelfSigned> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    name: 'CN=localhost',
    notBefore: new Date(),
    notAfter: new Date(Date.now() + validityMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      // Clients that trust several certificates with this name find the right one by its key.
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { key, cert: `${certificate.toString('pem')}\n` };
}

/**
 * Pool of certificates, generated when the module is loaded, so that tests receive them synchronously. It is larger than
 * the number that a test uses at once.
 */
const certificates = await Promise.all(Array.from({ length: 4 }, generate));
let calls = 0;

/**
 * Returns a key and a self-signed certificate for `localhost` and 127.0.0.1, as PEM; those of four successive calls
 * differ.
 */
export function makeSelfSigned(): SelfSigned {
  const certificate = certificates[calls % certificates.length];
  calls += 1;
  if (certificate === undefined) throw new Error('No certificate was generated.');
  return certificate;
}
