import { notificationOffered } from '../../contracts/notify/notification.ts';
import { toDeliveryUrls } from '../domain/kuma-notification.ts';
import { canWrite } from './monitor-events.ts';
import type { UptimeStores } from '../store/stores.ts';
import { toNumber, toTranslatedMessage, toText, type SocketEvents, type SocketDependencies } from './events.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** Returns the calls for notifications. */
export function notificationEvents(dependencies: SocketDependencies): SocketEvents {
  const { context, monitoring, stores } = dependencies;
  const { monitors } = monitoring;
  const { notifications } = stores;
  const changed = (): void =>
    dependencies.broadcast(
      'notificationList',
      notificationList(dependencies.stores, false),
      notificationList(dependencies.stores, true),
    );
  return {
    addNotification: {
      needs: 'write',
      async run(_session, input, id) {
        const { applyExisting, ...config } = toRecord(input);
        const existingId = id === null || id === undefined ? undefined : toNumber(id);
        const number = await notifications.put(config, existingId);
        if (applyExisting === true) {
          for (const monitor of monitors.all()) {
            const notificationIDList = { ...toRecord(monitor.config['notificationIDList']), [String(number)]: true };
            await monitors.change(monitor.id, { notificationIDList }, { merge: true, lenient: true });
          }
        }
        changed();
        return { msg: 'Saved.', msgi18n: true, id: number };
      },
    },
    deleteNotification: {
      needs: 'write',
      async run(_session, id) {
        await notifications.remove(toNumber(id));
        changed();
        return toTranslatedMessage('successDeleted');
      },
    },
    getNotificationList: {
      needs: 'read',
      run(session) {
        session.emit('notificationList', notificationList(dependencies.stores, canWrite(dependencies, session)));
        return {};
      },
    },
    testNotification: {
      needs: 'write',
      async run(_session, input) {
        const urls = [...toDeliveryUrls(toRecord(input))];
        const name = toText(toRecord(input)['name']) || 'notification';
        await context.handovers.pass(notificationOffered, `uptime:test:${context.random.text(20)}`, {
          configuration: 'aggregator',
          urls,
          notice: {
            ...{ title: `${name} Testing`, body: `${name} Testing`, type: 'info', format: 'text' },
            ...{ tags: ['uptime'], source: 'uptime' },
          },
        });
        return { msg: 'Sent Successfully.' };
      },
    },
  };
}

/** Returns all notifications; without `withSecrets` only names and types. */
export function notificationList({ notifications }: UptimeStores, withSecrets: boolean): readonly object[] {
  return notifications.all().map(({ id, config }) => {
    const { name, type, isDefault, active } = config;
    const visible = withSecrets ? config : { name, type, isDefault };
    return {
      ...{ id, name, userId: 1, isDefault: isDefault === true, active: active !== false },
      config: JSON.stringify(visible),
    };
  });
}
