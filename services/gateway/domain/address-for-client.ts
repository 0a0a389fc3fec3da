import { baseName, hostLabel, serviceName } from './names.ts';

interface Client {
  /** Base URL at which the client reached the gateway. */
  readonly client: URL;
  readonly label: string;
  readonly machine: string;
  /** Local port of the connection. */
  readonly arrivedAt: number | undefined;
  /** Port that serves all services by name; undefined while it is closed. */
  readonly https: number | undefined;
  /** Dedicated port of the requested service; undefined while it is closed. */
  readonly own: number | undefined;
  /** Additional names of services. */
  readonly names: readonly string[];
}

/**
 * Returns the address of a shared service for a client: by name for a client that uses names, otherwise at the
 * service's port. Undefined for names that do not belong to this computer, such as that of a proxy.
 */
export function addressForClient(
  id: string,
  { client, label, machine, arrivedAt, https, own, names }: Client,
): string | undefined {
  const { hostname } = client;
  const base = baseName(label);
  const byName = (): string | undefined => {
    // Keeps the client's port, which a router or proxy may have mapped.
    const port = arrivedAt === https ? client.port : String(https);
    return https === undefined ? undefined : `${client.protocol}//${serviceName(id, label)}${port && `:${port}`}`;
  };
  if (hostname === base || hostname.endsWith(`.${base}`) || names.includes(hostname)) return byName();
  const ownNames = [hostLabel(machine), machine.toLowerCase(), `${hostLabel(machine)}.local`, 'localhost'];
  const isOurs = /^(?:[\d.]+|\[.*\])$/.test(hostname) || ownNames.includes(hostname);
  if (!isOurs) return undefined;
  return own === undefined ? byName() : `https://${hostname}:${String(own)}`;
}
