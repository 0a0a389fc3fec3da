import { baseName, hostLabel, serviceName } from './names.ts';

interface Client {
  /** The base address at which the client reached the gateway. */
  readonly client: URL;
  readonly label: string;
  /** The name of this computer. */
  readonly machine: string;
  /** The port that the connection came to. */
  readonly arrivedAt: number | undefined;
  /** The port that serves all services by name; undefined while it is not open. */
  readonly https: number | undefined;
  /** The port of the requested service itself; undefined while it is not open. */
  readonly own: number | undefined;
  /** Further names of services. */
  readonly names: readonly string[];
}

/**
 * Returns the address of a shared service for a client: by name for a client that uses names, at the service's own
 * port for one that uses an address. Undefined for a name that is none of this computer's, such as that of a proxy.
 */
export function addressForClient(
  id: string,
  { client, label, machine, arrivedAt, https, own, names }: Client,
): string | undefined {
  const { hostname } = client;
  const base = baseName(label);
  const byName = (): string | undefined => {
    // Keeps the port that the client used, which a router or proxy may have mapped.
    const port = arrivedAt === https ? client.port : String(https);
    return https === undefined ? undefined : `${client.protocol}//${serviceName(id, label)}${port && `:${port}`}`;
  };
  if (hostname === base || hostname.endsWith(`.${base}`) || names.includes(hostname)) return byName();
  const ownNames = [hostLabel(machine), machine.toLowerCase(), `${hostLabel(machine)}.local`, 'localhost'];
  const isOurs = /^(?:[\d.]+|\[.*\])$/.test(hostname) || ownNames.includes(hostname);
  if (!isOurs) return undefined;
  return own === undefined ? byName() : `https://${hostname}:${String(own)}`;
}
