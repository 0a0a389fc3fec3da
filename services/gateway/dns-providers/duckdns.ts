import type { Fetch } from '../../contracts/outgoing.ts';
import { runRequest } from './json-api.ts';
import { DnsProviderError, type DnsProvider } from './provider.ts';

const timeoutMs = 30_000;
const suffix = '.duckdns.org';

/**
 * TXT record of a DuckDNS domain, which has only one value for all of its names. DuckDNS accepts the token only in the
 * address.
 */
export function createDuckdns(fetch: Fetch, token: string): DnsProvider {
  async function update(
    name: string,
    parameters: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void> {
    const domain = name.endsWith(suffix) ? name.slice(0, -suffix.length).split('.').at(-1) : undefined;
    if (domain === undefined) throw new DnsProviderError('zone', name);
    const query = new URLSearchParams({ domains: domain, token, ...parameters });
    const { status, body } = await runRequest(signal, () =>
      fetch(`https://www.duckdns.org/update?${query.toString()}`, { signal, timeoutMs }),
    );
    const answer = Buffer.from(body).toString('utf8').trim();
    if (status === 200 && /^OK\b/.test(answer)) return;
    // DuckDNS has no other reply for a wrong token or a domain of another account.
    throw new DnsProviderError(
      answer === 'KO' ? 'token' : 'failed',
      answer === 'KO' ? answer : `HTTP ${String(status)}`,
    );
  }

  return {
    isSingleValue: true,
    create: ({ name, value }, signal) => update(name, { txt: value }, signal),
    remove: ({ name }, signal) => update(name, { txt: '', clear: 'true' }, signal),
  };
}
