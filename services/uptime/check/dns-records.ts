import type { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

export const recordTypes = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;
export type RecordType = (typeof recordTypes)[number];

/** DNS record as text, with the part that conditions compare. */
export interface ResolvedRecord {
  readonly text: string;
  readonly value: string;
}

/** Resolves records. For `PTR`, an IP address is looked up in reverse. */
export async function resolveRecords(
  resolver: Resolver,
  hostname: string,
  type: RecordType,
): Promise<readonly ResolvedRecord[]> {
  switch (type) {
    case 'CAA':
      return (await resolver.resolveCaa(hostname)).map((record) => {
        const { critical, ...named } = record as { readonly critical: number } & Readonly<Record<string, unknown>>;
        const tags = Object.entries(named).filter(([name]) => name !== 'type');
        const [tag = '', value = ''] = tags[0] ?? [];
        return { text: `${String(critical)} ${tag} ${String(value)}`, value: String(value) };
      });
    case 'MX':
      return (await resolver.resolveMx(hostname)).map(({ exchange, priority }) => ({
        text: `Hostname: ${exchange} - Priority: ${String(priority)}`,
        value: exchange,
      }));
    case 'SRV':
      return (await resolver.resolveSrv(hostname)).map(({ name, port, priority, weight }) => ({
        text: `Name: ${name} | Port: ${String(port)} | Priority: ${String(priority)} | Weight: ${String(weight)}`,
        value: name,
      }));
    case 'SOA': {
      const { nsname, hostmaster, serial, refresh, retry, expire, minttl } = await resolver.resolveSoa(hostname);
      const times = `Serial: ${serial} | Refresh: ${refresh} | Retry: ${retry} | Expire: ${expire} | MinTTL: ${minttl}`;
      return [{ text: `NS-Name: ${nsname} | Hostmaster: ${hostmaster} | ${times}`, value: nsname }];
    }
    case 'TXT':
      return (await resolver.resolveTxt(hostname)).map((parts) => toRecord(parts.join('')));
    case 'PTR': {
      const names = isIP(hostname) === 0 ? await resolver.resolvePtr(hostname) : await resolver.reverse(hostname);
      return names.map(toRecord);
    }
    default:
      return (await resolver.resolve(hostname, type)).map(toRecord);
  }
}

/** Formats records as the message of a heartbeat. */
export function formatRecords(type: RecordType, records: readonly ResolvedRecord[]): string {
  const text = records.map((record) => record.text).join(' | ');
  if (type === 'NS') return `Servers: ${text}`;
  return type === 'MX' || type === 'SRV' || type === 'SOA' ? text : `Records: ${text}`;
}

function toRecord(text: string): ResolvedRecord {
  return { text, value: text };
}
