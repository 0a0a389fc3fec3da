import type { ControlContext } from '../../../services/contracts/control/host.ts';
import type { DispatchContext, DispatchHandlers, DispatchTarget } from '../../../services/contracts/dispatch.ts';
import type { DesktopContext } from '../../../services/contracts/popups/desktop.ts';
import type { Capability, Context, ServiceManifest } from '../../../services/contracts/service.ts';
import type { AppHandlers } from './app-listener.ts';
import type { ExternalListeners } from './outside-listeners.ts';

/** Access of a service to the handlers and addresses of others. */
export interface DispatchProvider {
  readonly dispatched: (serviceId: string, hosts: readonly string[]) => DispatchHandlers | undefined;
  readonly targets: () => readonly DispatchTarget[];
  readonly ports: DispatchContext['ports'];
  readonly getConnectionHandler: DispatchContext['getConnectionHandler'];
  readonly isFromTrustedProxy: DispatchContext['isFromTrustedProxy'];
  readonly shareAddresses: DispatchContext['shareAddresses'];
  readonly openSession: DispatchContext['openSession'];
  readonly resolveProviderUser: DispatchContext['resolveProviderUser'];
}

/** Implementations of capabilities, and what the host serves on the listener of the app. */
export interface CapabilityProviders {
  readonly host: ControlContext['host'];
  readonly app: AppHandlers;
  readonly desktop: DesktopContext['desktop'];
  readonly dispatch: DispatchProvider;
}

/** Extends a context by the capabilities of the manifest. */
export function withCapabilities(
  context: Context,
  { id, capabilities = [] }: ServiceManifest,
  { host, desktop, dispatch }: CapabilityProviders,
  outside: Pick<ExternalListeners, 'open'>,
): Context {
  const extended: Record<Capability, () => object> = {
    controlHost: (): Pick<ControlContext, 'host'> => ({ host }),
    desktop: (): Pick<DesktopContext, 'desktop'> => ({ desktop }),
    dispatch: (): Omit<DispatchContext, keyof Context> => ({
      // A service that dispatches to itself would recurse forever.
      dispatch: (other) => (other === id ? undefined : dispatch.dispatched(other, context.hosts.names)),
      targets: () => dispatch.targets().filter((target) => target.id !== id),
      ports: () => dispatch.ports().filter(({ service }) => service !== id),
      getConnectionHandler: (port) => (port.split('.')[0] === id ? undefined : dispatch.getConnectionHandler(port)),
      listen: (options) => outside.open(options),
      isFromTrustedProxy: dispatch.isFromTrustedProxy,
      shareAddresses: dispatch.shareAddresses,
      openSession: dispatch.openSession,
      resolveProviderUser: dispatch.resolveProviderUser,
    }),
  };
  return Object.assign({}, context, ...capabilities.map((capability) => extended[capability]())) as Context;
}
