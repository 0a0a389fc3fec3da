import type { Context } from '../../contracts/service.ts';
import type { Settings } from '../settings.ts';
import { createCloudflare } from './cloudflare.ts';
import { createDesec } from './desec.ts';
import { createDuckdns } from './duckdns.ts';
import { createHetzner } from './hetzner.ts';
import type { DnsProvider } from './provider.ts';
import { createRfc2136 } from './rfc2136.ts';

const dnsPort = 53;

const providerFields = [
  'acmeConfirmation',
  'acmeToken',
  'acmeDnsServer',
  'acmeTsigName',
  'acmeTsigAlgorithm',
  'acmeTsigSecret',
] as const satisfies readonly (keyof Settings)[];

/** Settings of the DNS provider. */
export type ProviderSettings = Pick<Settings, (typeof providerFields)[number]>;

/** Returns the settings of the DNS provider alone. */
export function selectProviderSettings(settings: Readonly<ProviderSettings>): ProviderSettings {
  return Object.fromEntries(providerFields.map((field) => [field, settings[field]])) as ProviderSettings;
}

/** Returns whether settings lead to the same records. */
export function isSameProvider(settings: Readonly<ProviderSettings>, others: Readonly<ProviderSettings>): boolean {
  return providerFields.every((field) => settings[field] === others[field]);
}

/** Creates the selected DNS provider; undefined for records by hand and for HTTP. */
export function createProvider(
  { fetch, connect, clock, random }: Pick<Context, 'fetch' | 'connect' | 'clock' | 'random'>,
  settings: Readonly<ProviderSettings>,
): DnsProvider | undefined {
  switch (settings.acmeConfirmation) {
    case 'cloudflare':
      return createCloudflare(fetch, settings.acmeToken);
    case 'duckdns':
      return createDuckdns(fetch, settings.acmeToken);
    case 'hetzner':
      return createHetzner(fetch, settings.acmeToken);
    case 'desec':
      return createDesec(fetch, settings.acmeToken);
    case 'rfc2136': {
      const { acmeTsigName: name, acmeTsigAlgorithm: algorithm, acmeTsigSecret: secret } = settings;
      const key = name === '' ? undefined : { name, algorithm, secret };
      return createRfc2136({ connect, clock, random, key, ...parseServer(settings.acmeDnsServer) });
    }
    case 'manual':
    case 'http':
      return undefined;
  }
}

/** Parses `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`; the default port is 53. */
export function parseServer(server: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(server) ?? [];
  return { host: bracketed ?? plain, port: Number(port ?? dnsPort) };
}
