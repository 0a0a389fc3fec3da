import * as m from '#messages/host-problems';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { Problem } from '../../../services/contracts/problem.ts';
import type { ListenerCertificate } from '../../../services/contracts/dispatch.ts';
import type { CertificateFiles } from '../../../services/contracts/listeners.ts';

/** Certificate of a TLS listener, in PEM. */
export type Certificate = ListenerCertificate;

/** Selects the certificate for the host name that a client requests in the TLS handshake. */
export class CertificateSelector {
  #contexts: ReadonlyMap<string, SecureContext> = new Map();

  constructor(certificate: Certificate) {
    this.replace(certificate);
  }

  /** Replaces the certificates for new connections. */
  replace({ named = [] }: Certificate): void {
    // A certificate that cannot be used leaves the former ones in place.
    const contexts = new Map<string, SecureContext>();
    for (const { cert, key, names } of named) {
      const context = createSecureContext({ cert, key });
      for (const name of names) contexts.set(name.toLowerCase(), context);
    }
    this.#contexts = contexts;
  }

  /** Returns the certificate of a host name, or of the wildcard for it; undefined selects that of the listener. */
  find(serverName: string): SecureContext | undefined {
    const name = serverName.toLowerCase();
    return this.#contexts.get(name) ?? this.#contexts.get(name.replace(/^[^.]+/, '*'));
  }
}

/** @throws Problem `listener.no_certificate` (500) for files that do not exist or do not match. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const cert = await read(files.certFile, { missing: m.noCertificateFile, unreadable: m.certificateUnreadable });
  const key = await read(files.keyFile, { missing: m.noKeyFile, unreadable: m.certificateKeyUnreadable });
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const detail = (): string => m.certificateMismatch({ certFile: files.certFile, keyFile: files.keyFile });
    throw new Problem('listener.no_certificate', 500, detail, { cause });
  }
  return { cert, key };
}

/** Messages about a file that is not set or cannot be read. */
interface FileMessages {
  readonly missing: () => string;
  readonly unreadable: (values: { readonly file: string }) => string;
}

async function read(file: string, { missing, unreadable }: FileMessages): Promise<string> {
  if (file === '') throw new Problem('listener.no_certificate', 500, missing);
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Problem('listener.no_certificate', 500, () => unreadable({ file }), { cause });
  }
}
