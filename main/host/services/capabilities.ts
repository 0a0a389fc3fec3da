import type { ControlContext } from '../../../services/contracts/control/host.ts';
import type { DispatchContext, DispatchHandlers, DispatchTarget } from '../../../services/contracts/dispatch.ts';
import type { DesktopContext } from '../../../services/contracts/popups/desktop.ts';
import type { Capability, Context, ServiceManifest } from '../../../services/contracts/service.ts';
import type { OutsideListeners } from './outside-listeners.ts';

/** What the host has to give besides a service's own context. */
export interface Powers {
  readonly host: ControlContext['host'];
  readonly desktop: DesktopContext['desktop'];
  readonly dispatched: (serviceId: string, hosts: readonly string[]) => DispatchHandlers | undefined;
  readonly targets: () => readonly DispatchTarget[];
  readonly ports: DispatchContext['ports'];
  readonly taker: DispatchContext['getConnectionHandler'];
  readonly isFromTrustedProxy: DispatchContext['isFromTrustedProxy'];
  readonly shareAddresses: DispatchContext['shareAddresses'];
  readonly openSession: DispatchContext['openSession'];
}

/** The context with what the manifest's capabilities give. */
export function empowered(
  context: Context,
  { id, capabilities = [] }: ServiceManifest,
  powers: Powers,
  outside: Pick<OutsideListeners, 'open'>,
): Context {
  const given: Record<Capability, () => object> = {
    controlHost: (): Pick<ControlContext, 'host'> => ({ host: powers.host }),
    desktop: (): Pick<DesktopContext, 'desktop'> => ({ desktop: powers.desktop }),
    dispatch: (): Omit<DispatchContext, keyof Context> => ({
      // One that asked for itself would go round for ever.
      dispatch: (other) => (other === id ? undefined : powers.dispatched(other, context.hosts.names)),
      targets: () => powers.targets().filter((target) => target.id !== id),
      ports: () => powers.ports().filter(({ service }) => service !== id),
      getConnectionHandler: (port) => (port.split('.')[0] === id ? undefined : powers.taker(port)),
      listen: (options) => outside.open(options),
      isFromTrustedProxy: powers.isFromTrustedProxy,
      shareAddresses: powers.shareAddresses,
      openSession: powers.openSession,
    }),
  };
  return Object.assign({}, context, ...capabilities.map((capability) => given[capability]())) as Context;
}
