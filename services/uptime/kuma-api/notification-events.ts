import { notificationOffered } from '../../contracts/notify/notification.ts';
import { toDeliveryUrls } from '../domain/kuma-notification.ts';
import { mayWrite } from './monitor-events.ts';
import { numberOf, recordOf, said, textOf, type SocketEvents, type SocketParts } from './events.ts';

/** Returns the calls for notifications. */
export function notificationEvents(parts: SocketParts): SocketEvents {
  const { context, notifications, monitors } = parts;
  const changed = (): void =>
    parts.broadcast('notificationList', notificationList(parts, false), notificationList(parts, true));
  return {
    addNotification: {
      needs: 'write',
      async run(_session, given, id) {
        const { applyExisting, ...config } = recordOf(given);
        const known = id === null || id === undefined ? undefined : numberOf(id);
        const number = await notifications.put(config, known);
        if (applyExisting === true) {
          for (const watched of monitors.all()) {
            const notificationIDList = { ...recordOf(watched.config['notificationIDList']), [String(number)]: true };
            await monitors.change(watched.id, { notificationIDList }, { merge: true, lenient: true });
          }
        }
        changed();
        return { msg: 'Saved.', msgi18n: true, id: number };
      },
    },
    deleteNotification: {
      needs: 'write',
      async run(_session, id) {
        await notifications.remove(numberOf(id));
        changed();
        return said('successDeleted');
      },
    },
    getNotificationList: {
      needs: 'read',
      run(session) {
        session.emit('notificationList', notificationList(parts, mayWrite(parts, session)));
        return {};
      },
    },
    testNotification: {
      needs: 'write',
      async run(_session, given) {
        const urls = [...toDeliveryUrls(recordOf(given))];
        const name = textOf(recordOf(given)['name']) || 'notification';
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
export function notificationList({ notifications }: SocketParts, withSecrets: boolean): readonly object[] {
  return notifications.all().map(({ id, config }) => {
    const { name, type, isDefault, active } = config;
    const visible = withSecrets ? config : { name, type, isDefault };
    return {
      ...{ id, name, userId: 1, isDefault: isDefault === true, active: active !== false },
      config: JSON.stringify(visible),
    };
  });
}
