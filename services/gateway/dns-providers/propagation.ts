import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { listZoneNames, type TxtRecord } from './provider.ts';

const resolverOptions = { timeout: 3000, tries: 2 } as const;
const maxServers = 8;

/**
 * Returns whether all name servers of the zone answer with the records. Without configured servers, the authoritative
 * ones are asked, because resolvers cache the absence of a record.
 */
export async function arePublished(records: readonly TxtRecord[], servers: readonly string[]): Promise<boolean> {
  for (const { name, value } of records) {
    const resolvers = servers.length > 0 ? servers.map(createResolver) : await findAuthoritative(name);
    const answers = await Promise.all(resolvers.map((resolver) => readTexts(resolver, name)));
    const reachable = answers.filter((answer) => answer !== undefined);
    if (reachable.length === 0 || !reachable.every((texts) => texts.includes(value))) return false;
  }
  return true;
}

/** Returns the texts of a name; undefined when the server does not answer. */
async function readTexts(resolver: Resolver, name: string): Promise<readonly string[] | undefined> {
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'ESERVFAIL' ? [] : undefined;
  }
}

/** Returns resolvers for the name servers of the zone of a name; the system's resolver if there is no answer. */
async function findAuthoritative(name: string): Promise<readonly Resolver[]> {
  const system = new Resolver(resolverOptions);
  for (const zone of listZoneNames(name)) {
    const names = await system.resolveNs(zone).catch((): readonly string[] => []);
    if (names.length === 0) continue;
    const lists = await Promise.all(names.map((each) => resolveAddresses(system, each)));
    const addresses = lists.flat().slice(0, maxServers);
    return addresses.length === 0 ? [system] : addresses.map(createResolver);
  }
  return [system];
}

async function resolveAddresses(resolver: Resolver, name: string): Promise<readonly string[]> {
  const lists = await Promise.all([
    resolver.resolve4(name).catch((): readonly string[] => []),
    resolver.resolve6(name).catch((): readonly string[] => []),
  ]);
  return lists.flat();
}

function createResolver(server: string): Resolver {
  const resolver = new Resolver(resolverOptions);
  resolver.setServers([isIP(server) === 6 ? `[${server}]` : server]);
  return resolver;
}

/** Returns the addresses of a host name; empty when it has none. */
export async function findAddresses(name: string, servers: readonly string[]): Promise<readonly string[]> {
  const resolver = servers.length > 0 ? servers.map(createResolver)[0] : new Resolver(resolverOptions);
  return resolver === undefined ? [] : resolveAddresses(resolver, name);
}
