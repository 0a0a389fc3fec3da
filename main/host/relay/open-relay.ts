import type { HostSettings } from '../config/host-settings.ts';
import { readNatsSettings } from './nats-settings.ts';
import { Relay, type RelayDependencies } from './relay.ts';
import type { Transport } from './transport.ts';

export interface RelayOptions extends Omit<RelayDependencies, 'transport'> {
  readonly settings: Pick<HostSettings, 'databaseUrl' | 'natsUrl' | 'natsCredentialsFile'>;
  /** Identifies the installation, whose hosts share the vault's key. */
  readonly installation: string;
}

/**
 * Opens the exchange of events with the hosts that share the database: over NATS if the settings name a server, else
 * over PostgreSQL. A host starts without a connection, too.
 * @returns undefined without a shared database
 * @throws Problem `relay.settings` (422)
 */
export async function openRelay({ settings, installation, ...dependencies }: RelayOptions): Promise<Relay | undefined> {
  if (settings.databaseUrl === '') {
    if (settings.natsUrl !== '') dependencies.log.warn('NATS address ignored without a shared database');
    return undefined;
  }
  const relay = new Relay({ ...dependencies, transport: await openTransport(settings, installation) });
  await relay.start();
  return relay;
}

/** Drivers are loaded on demand, since most installations have one host. */
async function openTransport(settings: RelayOptions['settings'], installation: string): Promise<Transport> {
  const nats = await readNatsSettings(settings);
  if (nats !== undefined) {
    const { createNatsTransport } = await import('./nats-transport.ts');
    return createNatsTransport(nats, installation);
  }
  const { createPostgresTransport } = await import('./postgres-transport.ts');
  return createPostgresTransport(settings.databaseUrl);
}
