import * as m from '#messages/mail-problems';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { Problem } from '../../contracts/problem.ts';

/** PEM certificate and key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads and validates a certificate.
 *
 * @throws Problem `mail.certificate` (422) when a file is missing or the key does not match
 */
export async function readCertificate(certificateFile: string, keyFile: string): Promise<Certificate> {
  if (certificateFile === '' || keyFile === '') {
    throw new Problem('mail.certificate', 422, m.certificateMissing);
  }
  try {
    const [cert, key] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')]);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (cause) {
    throw new Problem('mail.certificate', 422, m.certificateInvalid, { cause });
  }
}
