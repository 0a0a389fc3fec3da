import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { Problem } from '../../../services/contracts/problem.ts';
import type { CertificateFiles } from '../../../services/contracts/listeners.ts';

/** Certificate of a TLS listener, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** @throws Problem `listener.no_certificate` (500) for files that do not exist or do not match. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const cert = await read(files.certFile, 'certificate');
  const key = await read(files.keyFile, 'key of the certificate');
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const detail = `The certificate ${files.certFile} and the key ${files.keyFile} cannot be used together.`;
    throw new Problem('listener.no_certificate', 500, detail, { cause });
  }
  return { cert, key };
}

async function read(file: string, description: string): Promise<string> {
  if (file === '')
    throw new Problem('listener.no_certificate', 500, `HTTPS is on, but no file with the ${description} is set.`);
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Problem('listener.no_certificate', 500, `The ${description} cannot be read: ${file}`, { cause });
  }
}
