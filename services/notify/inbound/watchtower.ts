import * as m from '#messages/notify-inbound';
import { joinTexts, type InboundAdapter } from './adapter.ts';

const countMessages = { updated: m.containersUpdated, failed: m.containersFailed, stale: m.containersStale };
const stateMessages = { updated: m.containerUpdated, failed: m.containerFailed, stale: m.containerStale };

/** Adapter for Watchtower's JSON template: a report of the session, or its log lines. */
export const watchtower: InboundAdapter = {
  name: 'Watchtower',
  matches: (payload) => payload.hasKey('entries') && payload.hasKey('host') && payload.hasKey('title'),
  parse(payload) {
    const groups = (['updated', 'failed', 'stale'] as const).map(
      (state) => [state, payload.list(`report.${state}`)] as const,
    );
    const counts = groups
      .filter(([, list]) => list.length > 0)
      .map(([state, list]) => countMessages[state]({ count: list.length }));
    const containers = groups.flatMap(([state, list]) =>
      list.map((each) => [
        { strong: each.text('name').replace(/^\//, '') },
        ` (${each.text('imageName')}): ${joinTexts(' – ', stateMessages[state](), each.text('error'))}`,
      ]),
    );
    const log = payload.list('entries').map((entry) => [entry.text('message')]);
    const failed =
      payload.list('report.failed').length > 0 ||
      payload.list('entries').some((each) => /error|fatal/.test(each.text('level')));
    const scanned = payload.list('report.scanned').length;
    const title = payload.text('title') || m.watchtowerTitle({ host: payload.text('host') });
    return {
      title: counts.length === 0 ? title : `${title}: ${counts.join(', ')}`,
      lines: containers.length > 0 ? containers : log.length > 0 ? log : [[m.containersChecked({ count: scanned })]],
      type: failed ? 'failure' : payload.list('report.updated').length > 0 ? 'success' : 'info',
    };
  },
};
