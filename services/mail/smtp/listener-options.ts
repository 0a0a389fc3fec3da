import type { Settings } from '../settings.ts';
import type { LiveListenerOptions } from './listener.ts';
import { createNetworkFilter } from './networks.ts';

/** Returns the options of the listener that may change while it runs. */
export function getListenerOptions(settings: Settings): LiveListenerOptions {
  const { clients, signIn } = settings;
  const isAllowedNetwork = createNetworkFilter(clients);
  return {
    maxSize: settings.maxMegabytes * 1024 * 1024,
    maxRecipients: settings.maxRecipients,
    maxClients: settings.maxClients,
    idleMs: settings.idleSeconds * 1000,
    mayConnect: (address) => isAllowedNetwork(address) || (clients.length === 0 && signIn === 'required'),
    signIn,
    acceptsTokens: settings.topicDomain !== '',
  };
}
