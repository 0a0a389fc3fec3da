import * as m from '#messages/gateway-problems';
import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { Problem } from '../../contracts/problem.ts';
import type { PresentedCertificate } from './certificates.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Reads the certificate of the administrator.
 * @throws Problem `gateway.certificate` (422) for files that cannot be read or do not belong together
 */
export async function readCustomCertificate({ certFile, keyFile }: CertificateFiles): Promise<PresentedCertificate> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
    createSecureContext({ cert, key });
    const { subjectAltName = '', validTo } = new X509Certificate(cert);
    const names = subjectAltName.split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''));
    return { source: 'own', cert, key, names, expiresAt: Date.parse(validTo) };
  } catch (cause) {
    const text = (): string => m.certificateUnusable({ certFile, keyFile });
    throw new Problem('gateway.certificate', 422, text, { cause });
  }
}

/** Returns a text that changes whenever one of the files changes. */
export async function getFingerprint({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const times = await Promise.all(
    [certFile, keyFile].map((path) =>
      stat(path).then(
        ({ mtimeMs, size }) => `${String(mtimeMs)} ${String(size)}`,
        () => '',
      ),
    ),
  );
  return JSON.stringify([certFile, keyFile, times]);
}
