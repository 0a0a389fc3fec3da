import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { UptimeOptions } from '../contracts/uptime/views.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { createFaviconHandler } from './app-api/favicon-handler.ts';
import { createMaintenanceHandlers } from './app-api/maintenance-handlers.ts';
import { createManagementHandlers } from './app-api/management-handlers.ts';
import { createUptimeHandlers } from './app-api/monitor-handlers.ts';
import { createProxyHandlers } from './app-api/proxy-handlers.ts';
import { createStatusPageHandlers } from './app-api/status-page-handlers.ts';
import { Changes } from './changes.ts';
import { Favicons } from './favicons/favicons.ts';
import { KumaSocket } from './kuma-api/server.ts';
import { createUptimeListener } from './listener.ts';
import { manifest } from './manifest.ts';
import { createMetrics, registerMonitorGauges } from './metrics.ts';
import { isSuppressed } from './monitoring/dependency-suppression.ts';
import { getHealth } from './monitoring/health.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Options } from './monitoring/options.ts';
import { EventDelivery } from './notifications/event-delivery.ts';
import { EventQueue } from './notifications/event-queue.ts';
import { provision } from './provisioning.ts';
import type { Settings } from './settings.ts';
import { StatusPageFeature } from './status-pages/status-page-feature.ts';
import { createUptimeAccountData } from './store/account-data.ts';
import { createStores, loadStores } from './store/stores.ts';

/** Uptime monitor for servers, programs and containers, compatible with Uptime Kuma. */
export const uptime = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const { log } = context;
  const resources = new AsyncDisposableStack();
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const options = new Options(context, getDefaultOptions(settings));
  const changes = new Changes();
  const stores = createStores(context, {
    onKeysChange: () => changes.emit('keys'),
    onDockerHostsChange: (list) => changes.emit('dockerHosts', list),
    onProxiesChange: (list) => changes.emit('proxies', list),
  });
  const { sent, failed, checked } = createMetrics(context.metrics);
  const events = new EventQueue(context, () => options.current);
  const monitoring = new Monitoring({ context, settings, options, stores, events, changes, onResult: checked });
  const { maintenances, monitors } = monitoring;
  registerMonitorGauges(context.metrics, monitors);
  const statusPages = new StatusPageFeature(context, {
    settings,
    publicUrl: () => options.current.publicUrl,
    maintenances,
    onChange: () => changes.emit('statusPages'),
  });
  const { pages, subscribers, subscriberMail } = statusPages;
  const delivery = new EventDelivery({
    context,
    options: () => options.current,
    urlsFor: (id) => stores.notifications.urlsFor(monitors.find(id)?.config['notificationIDList']),
    sent,
    failed,
    notifyFollowers: (event) => statusPages.notifier.handleEvent(event),
    isSuppressed: (kind, id, hosts, at) => isSuppressed(monitoring, { kind, id, hosts, at }),
  });
  const socket = new KumaSocket({ context, monitoring, stores, pages, options }, changes);
  const favicons = new Favicons({ context, isEnabled: () => settings.favicons });
  const api = [
    ...createUptimeHandlers({ context, monitoring, stores, options }),
    createFaviconHandler({ context, monitors, proxies: stores.proxies, favicons }),
    ...createStatusPageHandlers(pages, subscribers, subscriberMail),
    ...createMaintenanceHandlers(maintenances),
    ...createProxyHandlers(monitors, stores.proxies),
    ...createManagementHandlers({ context, monitoring, stores, pages }),
  ];
  const applyProvisioned = async (): Promise<void> => {
    if (monitoring.isOwner) await provision({ monitors, proxies: stores.proxies, pages, maintenances, log }, settings);
  };

  return {
    http: createUptimeListener({ context, monitoring, stores, statusPages, options, socket, handlers: api }),
    upgrade: socket.upgrade,
    api,
    accountData: createUptimeAccountData(context, stores.incidents),
    async start() {
      resources.use(monitoring);
      resources.use(socket);
      resources.use(statusPages);
      await options.start();
      await statusPages.load();
      await loadStores(stores);
      await monitoring.start({
        onOwned: async () => {
          await applyProvisioned();
          return delivery.handle();
        },
        loaders: statusPages.loaders,
      });
      statusPages.start();
      monitoring.startWarmUp();
    },
    async health() {
      return getHealth(monitoring);
    },
    reconfigure: (next) =>
      live.update(next, () => {
        options.setDefaults(getDefaultOptions(settings));
        monitoring.checker.refreshPolicy();
        return applyProvisioned();
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function getDefaultOptions(settings: Settings): UptimeOptions {
  return {
    notifyUrl: settings.notifyUrl,
    notifyTag: settings.notifyTag,
    tlsExpiryNotifyDays: [...settings.certificateDays],
    keepDataPeriodDays: settings.keepDays,
    publicUrl: settings.publicUrl,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
