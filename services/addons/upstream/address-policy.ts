import type { Text } from '../../contracts/text.ts';
import * as m from '#messages/addons-problems';
import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isPublicAddress, normalizeAddress } from '../domain/public-address.ts';

/** Limits the time for name resolution, because a resolver without a response would delay all addons. */
const resolveTimeoutMs = 2500;

/** Addresses of cloud metadata services, which reveal secrets. */
const metadataHosts = new Set(['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254']);

/** `owner` may reach this computer and its network. */
export type Trust = 'owner' | 'other';

/** Checked address. The request is sent to exactly this address. */
export interface CheckedAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly trust: Trust;
}

/** Resolves a host name as the operating system does. */
export type ResolveName = (host: string) => Promise<readonly { readonly address: string }[]>;

/**
 * Decides which addresses addons may have. On a desktop an addon can run on the same computer or network, but never on
 * a listener of Homeport or a cloud metadata service, whatever name or redirect leads there.
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
   * Checks an address and returns where the request is sent. A name that resolves to a private address is requested by
   * the checked IP address. A name that resolves to a public address is checked again for each connection.
   *
   * @throws Problem `addons.refused_address` (403) with a message about the addon.
   */
  async checkAddress(address: string, name: string, trust: Trust): Promise<CheckedAddress> {
    const url = URL.parse(address);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      throw createRefusal(() => m.addressNotWeb({ name }));
    const host = getHost(url);
    if (host === 'metadata.google.internal') throw createRefusal(() => m.addressOfMetadata({ name }));
    if (isUnresolvedHost(host)) {
      this.#refuseReserved(url, host, name);
      if (trust === 'other' && !isPublicHost(host)) throw createRefusal(() => m.addressPrivate({ name }));
      return { url: address, headers: {}, trust };
    }
    // A name that cannot be resolved fails with a message when it is requested.
    const addresses = await this.#resolveAddresses(host);
    for (const ip of addresses) this.#refuseReserved(url, ip, name);
    const privateAddress = addresses.find((ip) => !isPublicAddress(ip));
    if (privateAddress === undefined) return { url: address, headers: {}, trust: 'other' };
    if (trust === 'other') throw createRefusal(() => m.addressPrivate({ name }));
    // TLS verifies the server by its certificate.
    if (url.protocol === 'https:') return { url: address, headers: {}, trust };
    const pinned = new URL(address);
    pinned.hostname = privateAddress.includes(':') ? `[${privateAddress}]` : privateAddress;
    return { url: pinned.href, headers: { host: url.host }, trust };
  }

  /** Returns true when an address leads to this computer or its network. */
  async isPrivateAddress(address: string): Promise<boolean> {
    const url = URL.parse(address);
    if (url === null) return false;
    const host = getHost(url);
    if (isUnresolvedHost(host)) return !isPublicHost(host);
    return (await this.#resolveAddresses(host)).some((ip) => !isPublicAddress(ip));
  }

  async #resolveAddresses(host: string): Promise<readonly string[]> {
    const timeout = Promise.withResolvers<readonly { readonly address: string }[]>();
    const timer = setTimeout(() => timeout.resolve([]), resolveTimeoutMs);
    try {
      const records = await Promise.race([this.#resolve(host), timeout.promise]);
      return records.map(({ address }) => address);
    } catch {
      return [];
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns true when an address is one of this service. */
  isOwnAddress(address: string): boolean {
    const url = URL.parse(address);
    if (url === null) return false;
    const baseUrl = URL.parse(this.#baseUrl() ?? '');
    if (baseUrl !== null && baseUrl.host === url.host) return true;
    return isListener(url, getHost(url), this.#context.address('addons'));
  }

  /**
   * Refuses addresses of Homeport and of cloud metadata services.
   *
   * @param host The IP address or the address the name resolved to.
   */
  #refuseReserved(url: URL, host: string, name: string): void {
    const normalizedHost = normalizeAddress(host);
    if (metadataHosts.has(normalizedHost) || normalizedHost.startsWith('169.254.'))
      throw createRefusal(() => m.addressOfMetadata({ name }));
    if (isListener(url, normalizedHost, this.#context.address('control')))
      throw createRefusal(() => m.addressOfAdministration({ name }));
    const ownPort = URL.parse(this.#context.address('addons') ?? '')?.port;
    if (
      getPort(url) !== ownPort &&
      this.#context.addresses().some((service) => isListener(url, normalizedHost, service))
    )
      throw createRefusal(() => m.addressOfService({ name }));
  }
}

/** Returns true for IP addresses and for names that are not resolved by DNS. */
function isUnresolvedHost(host: string): boolean {
  return isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost');
}

function isPublicHost(host: string): boolean {
  return isIP(host) !== 0 && isPublicAddress(host);
}

function isListener(url: URL, host: string, service: string | undefined): boolean {
  const serviceUrl = URL.parse(service ?? '');
  return serviceUrl !== null && getPort(serviceUrl) === getPort(url) && isLocalHost(host);
}

function getHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

function getPort(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}

/** Returns true for all names and addresses of this computer. */
function isLocalHost(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || /^(?:127|0)\./.test(host)) return true;
  if (host === '::' || host === '::1') return true;
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === host) === true);
}

function createRefusal(text: Text): Problem {
  return new Problem('addons.refused_address', 403, text, { retryable: false });
}
