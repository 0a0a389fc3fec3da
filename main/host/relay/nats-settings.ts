import * as m from '#messages/host-problems';
import { readFile } from 'node:fs/promises';
import { Problem } from '../../../services/contracts/problem.ts';
import type { HostSettings } from '../config/host-settings.ts';

/** Addresses of NATS servers with the credentials, which no log contains. */
export interface NatsSettings {
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** Content of a credentials file. */
  readonly credentials?: Uint8Array;
}

/**
 * Reads the addresses of the NATS servers, which are separated by commas, and the credentials.
 * @returns undefined without an address
 * @throws Problem `relay.settings` (422)
 */
export async function readNatsSettings({
  natsUrl,
  natsCredentialsFile,
}: Pick<HostSettings, 'natsUrl' | 'natsCredentialsFile'>): Promise<NatsSettings | undefined> {
  if (natsUrl === '') return undefined;
  const addresses = natsUrl.split(',').map(parseAddress);
  const withAccount = addresses.find(({ username }) => username !== '');
  const credentials = natsCredentialsFile === '' ? undefined : await readCredentials(natsCredentialsFile);
  return {
    servers: addresses.map(({ host }) => host),
    tls: addresses.some(({ protocol }) => protocol === 'tls:'),
    ...(withAccount === undefined ? {} : parseAccount(withAccount)),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

/** Parses `nats://user:password@host:4222` or `tls://…`. */
function parseAddress(address: string): URL {
  const text = address.trim();
  const parsed = URL.parse(text.includes('://') ? text : `nats://${text}`);
  if (parsed === null || parsed.hostname === '') throw new Problem('relay.settings', 422, m.natsUrlInvalid);
  if (parsed.port === '') parsed.port = '4222';
  return parsed;
}

/** An address with a user but without a password contains a token. */
function parseAccount({ username, password }: URL): Pick<NatsSettings, 'user' | 'password' | 'token'> {
  const user = decodeURIComponent(username);
  return password === '' ? { token: user } : { user, password: decodeURIComponent(password) };
}

async function readCredentials(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    throw new Problem('relay.settings', 422, () => m.natsCredentialsUnreadable({ file, code }), { cause });
  }
}
