import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isPublicAddress, plainAddress } from '../domain/public-address.ts';

/** A resolver that is silent must not hold up what others have. */
const resolveMs = 2500;

/** Where clouds tell machines their secrets; no addon lives there. */
const metadataHosts = new Set(['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254']);

/** `owner`: he may reach his own machine and network. */
export type Trust = 'owner' | 'other';

/** How an address that was checked is asked, so that it is the checked one that is asked. */
export interface Route {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly trust: Trust;
}

/** Names as the system resolves them. */
export type ResolveName = (host: string) => Promise<readonly { readonly address: string }[]>;

/**
 * Which addresses an addon may have. On a desktop it may well be on the same machine or network; but neither the app's own
 * listeners nor what hands out secrets to machines is an addon, whatever name or redirect leads there.
 */
export class AddressPolicy {
  readonly #context: Pick<Context, 'address' | 'addresses'>;
  readonly #baseUrl: () => string | undefined;
  readonly #resolve: ResolveName;

  constructor(
    context: Pick<Context, 'address' | 'addresses'>,
    baseUrl: () => string | undefined,
    resolve: ResolveName = (host) => lookup(host, { all: true }),
  ) {
    this.#context = context;
    this.#baseUrl = baseUrl;
    this.#resolve = resolve;
  }

  /**
   * A name that leads home is asked by the address that was checked; one that leads outside only as long as it does.
   *
   * @throws Problem `addons.refused_address` (403) with a sentence about the addon.
   */
  async route(address: string, name: string, trust: Trust): Promise<Route> {
    const url = URL.parse(address);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      throw refused(`${name} has an address that is no web address.`);
    const host = hostOf(url);
    if (host === 'metadata.google.internal') throw refused(leadsToSecrets(name));
    if (isLiteral(host)) {
      this.#check(url, host, name);
      if (trust === 'other' && !isOutside(host)) throw refused(leadsHome(name));
      return { url: address, headers: {}, trust };
    }
    // A name that cannot be resolved fails when it is asked, with its own sentence.
    const found = await this.#resolved(host);
    for (const ip of found) this.#check(url, ip, name);
    const near = found.find((ip) => !isPublicAddress(ip));
    if (near === undefined) return { url: address, headers: {}, trust: 'other' };
    if (trust === 'other') throw refused(leadsHome(name));
    // Over TLS the certificate tells whether it is still the one that is meant.
    if (url.protocol === 'https:') return { url: address, headers: {}, trust };
    const pinned = new URL(address);
    pinned.hostname = near.includes(':') ? `[${near}]` : near;
    return { url: pinned.href, headers: { host: url.host }, trust };
  }

  /** Whether an address leads to this machine or its network. */
  async isNear(address: string): Promise<boolean> {
    const url = URL.parse(address);
    if (url === null) return false;
    const host = hostOf(url);
    if (isLiteral(host)) return !isOutside(host);
    return (await this.#resolved(host)).some((ip) => !isPublicAddress(ip));
  }

  async #resolved(host: string): Promise<readonly string[]> {
    const nothing = Promise.withResolvers<readonly { readonly address: string }[]>();
    const timer = setTimeout(() => nothing.resolve([]), resolveMs);
    try {
      const found = await Promise.race([this.#resolve(host), nothing.promise]);
      return found.map(({ address }) => address);
    } catch {
      return [];
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether this address is one under which this very service answers. */
  isOwn(address: string): boolean {
    const url = URL.parse(address);
    if (url === null) return false;
    const base = URL.parse(this.#baseUrl() ?? '');
    if (base !== null && base.host === url.host) return true;
    return isAt(url, hostOf(url), this.#context.address('addons'));
  }

  /** `host`: the address, or what its name was resolved to. */
  #check(url: URL, host: string, name: string): void {
    const plain = plainAddress(host);
    if (metadataHosts.has(plain) || plain.startsWith('169.254.')) throw refused(leadsToSecrets(name));
    if (isAt(url, plain, this.#context.address('control')))
      throw refused(`${name} leads to Homeport's own administration, which is no addon.`);
    const own = URL.parse(this.#context.address('addons') ?? '')?.port;
    if (portOf(url) !== own && this.#context.addresses().some((service) => isAt(url, plain, service)))
      throw refused(`${name} leads to another service of Homeport, which is no addon.`);
  }
}

const leadsToSecrets = (name: string): string =>
  `${name} leads to where clouds keep secrets of machines, which is no addon.`;
const leadsHome = (name: string): string =>
  `${name} leads to this machine or its network, where this configuration may not reach.`;

/** An address, or a name that no resolver has a say in. */
function isLiteral(host: string): boolean {
  return isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost');
}

function isOutside(host: string): boolean {
  return isIP(host) !== 0 && isPublicAddress(host);
}

function isAt(url: URL, host: string, service: string | undefined): boolean {
  const own = URL.parse(service ?? '');
  return own !== null && portOf(own) === portOf(url) && isThisMachine(host);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}

/** Under any of the names that lead here. */
function isThisMachine(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || /^(?:127|0)\./.test(host)) return true;
  if (host === '::' || host === '::1') return true;
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === host) === true);
}

function refused(detail: string): Problem {
  return new Problem('addons.refused_address', 403, detail, { retryable: false });
}
