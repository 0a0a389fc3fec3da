import type { ControlContext } from '../../../services/contracts/control/api.ts';
import type { DesktopContext } from '../../../services/contracts/popups/desktop.ts';
import type { Capability, Context, ServiceManifest } from '../../../services/contracts/service.ts';

/** What a service's context holds besides, by the capability that its manifest asks for. */
export interface Powers extends Record<Capability, object> {
  readonly controlHost: Pick<ControlContext, 'host'>;
  readonly desktop: Pick<DesktopContext, 'desktop'>;
}

/** The context with what the manifest's capabilities give. */
export function empowered(context: Context, { capabilities = [] }: ServiceManifest, powers: Powers): Context {
  return Object.assign({}, context, ...capabilities.map((capability) => powers[capability])) as Context;
}
