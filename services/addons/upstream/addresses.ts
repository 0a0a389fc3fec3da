import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

/** Where clouds tell machines their secrets; no addon lives there. */
const metadataHosts = new Set(['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254']);

/**
 * Which addresses an addon may have. On a desktop it may well be on the same machine or network; but neither the app's own
 * administration nor what hands out secrets to machines is an addon.
 */
export class AddressPolicy {
  readonly #context: Context;
  readonly #baseUrl: () => string | undefined;

  constructor(context: Context, baseUrl: () => string | undefined) {
    this.#context = context;
    this.#baseUrl = baseUrl;
  }

  /** @throws Problem `addons.refused_address` (403) with a sentence about the addon. */
  async check(address: string, name: string): Promise<void> {
    const url = URL.parse(address);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      throw refused(`${name} has an address that is no web address.`);
    const host = hostOf(url);
    if (metadataHosts.has(host) || host.startsWith('169.254.') || host === 'metadata.google.internal')
      throw refused(`${name} leads to where clouds keep secrets of machines, which is no addon.`);
    if (this.#isAdministration(url))
      throw refused(`${name} leads to Homeport's own administration, which is no addon.`);
    if (isIP(host) !== 0 || host === 'localhost') return;
    // A name that cannot be resolved fails when it is asked, with its own sentence.
    const found = await lookup(host, { all: true }).catch(() => []);
    if (found.some(({ address: ip }) => metadataHosts.has(ip) || ip.startsWith('169.254.')))
      throw refused(`${name} leads to where clouds keep secrets of machines, which is no addon.`);
  }

  /** Whether this address is one under which this very service answers. */
  isOwn(address: string): boolean {
    const url = URL.parse(address);
    if (url === null) return false;
    const base = URL.parse(this.#baseUrl() ?? '');
    if (base !== null && base.host === url.host) return true;
    return this.#isAt(url, this.#context.address('addons'));
  }

  #isAdministration(url: URL): boolean {
    return this.#isAt(url, this.#context.address('control'));
  }

  #isAt(url: URL, service: string | undefined): boolean {
    const own = URL.parse(service ?? '');
    return own !== null && portOf(own) === portOf(url) && isThisMachine(hostOf(url));
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}

/** Under any of the names that lead here. */
function isThisMachine(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || /^127\./.test(host) || host === '::1') return true;
  if (host === '0.0.0.0' || host === '::' || host.startsWith('::ffff:')) return true;
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === host) === true);
}

function refused(detail: string): Problem {
  return new Problem('addons.refused_address', 403, detail, { retryable: false });
}
