import type { HostControl } from '../../services/contracts/control/host.ts';
import type { Desktop, Notifier } from '../../services/contracts/popups/desktop.ts';
import { currentPlatform } from '../../services/kit/platform/current-platform.ts';
import { desktopNotifier } from './desktop/desktop-notifier.ts';
import { getRemoteAddress } from './http/access.ts';
import { createApiRouter } from './http/api-router.ts';
import { createStaticPages } from './http/static-pages.ts';
import type { Kernel } from './kernel.ts';
import { openInBrowser } from './platform/open-browser.ts';
import type { CapabilityProviders } from './services/capabilities.ts';
import { findConnectionHandler, getPortTargets, loadServiceFor } from './services/runners.ts';
import type { ServiceRunner } from './services/service-runner.ts';

/** Popups and links of the computer that the host runs on; by default those of the environment. */
export interface DesktopOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** Shows native popups. */
  readonly notifier?: Notifier;
  /** Opens a linked http or https address, including the app's own pages; default: in the browser. */
  readonly openAddress?: (url: string) => void;
}

/** Opens the popups and links of the computer that the host runs on. */
export function openDesktop(
  opening: AsyncDisposableStack,
  { environment = process.env, notifier, openAddress }: DesktopOptions,
  { parts }: Kernel,
): Desktop {
  const platform = currentPlatform;
  const open = openAddress ?? ((url: string) => openInBrowser(url, environment, platform));
  const desktop: Desktop = {
    notifier: opening.use(
      notifier ?? desktopNotifier({ environment, platform, log: parts.observation.log.child('popups') }),
    ),
    openPage(path) {
      const base = parts.addresses.address('control');
      if (base !== undefined) open(`${base}${path}`);
    },
    openLink(url) {
      const path = parts.addresses.appPages.findPath(url);
      if (path === undefined) open(url);
      else desktop.openPage(path);
    },
  };
  return desktop;
}

/** Creates the functions of the host for services that declare a capability. */
export function createCapabilityProviders(
  host: HostControl,
  desktop: Desktop,
  { accounts, parts }: Kernel,
  runners: ReadonlyMap<string, ServiceRunner>,
  pages: string,
): CapabilityProviders {
  return {
    host,
    app: {
      handleApi: createApiRouter({
        handlers: () => host.apiHandlers(),
        load: (path) => loadServiceFor(runners, path),
        accounts: parts.identities.accounts,
        caller: parts.origins.caller,
        log: parts.observation.log.child('api'),
      }),
      handlePage: createStaticPages({ folder: pages }),
    },
    desktop,
    dispatch: {
      dispatched: (id, hosts) => runners.get(id)?.dispatched(hosts),
      targets: () => [...runners.values()].flatMap(({ target }) => target ?? []),
      ports: () => getPortTargets(runners),
      getConnectionHandler: (id) => findConnectionHandler(runners, id),
      isFromTrustedProxy: (request) => parts.origins.trusts(getRemoteAddress(request)),
      shareAddresses: (shared) => parts.addresses.appPages.share(shared),
      resolveProviderUser: (user) => accounts.providerAccounts.resolve(user),
      openSession: (account, from) => accounts.openSession(account, { ...from, byPassword: false }),
    },
  };
}
