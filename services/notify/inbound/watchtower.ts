import { joinTexts, type InboundAdapter } from './adapter.ts';
import { formatCount } from '../../kit/format-count.ts';

/** Adapter for Watchtower's JSON template: a report of the session, or its log lines. */
export const watchtower: InboundAdapter = {
  name: 'Watchtower',
  matches: (payload) => payload.hasKey('entries') && payload.hasKey('host') && payload.hasKey('title'),
  parse(payload) {
    const groups = (['updated', 'failed', 'stale'] as const).map(
      (state) => [state, payload.list(`report.${state}`)] as const,
    );
    const counts = groups.filter(([, list]) => list.length > 0).map(([state, list]) => `${list.length} ${state}`);
    const containers = groups.flatMap(([state, list]) =>
      list.map((each) => [
        { strong: each.text('name').replace(/^\//, '') },
        ` (${each.text('imageName')}): ${joinTexts(' – ', state, each.text('error'))}`,
      ]),
    );
    const log = payload.list('entries').map((entry) => [entry.text('message')]);
    const failed =
      payload.list('report.failed').length > 0 ||
      payload.list('entries').some((each) => /error|fatal/.test(each.text('level')));
    const scanned = payload.list('report.scanned').length;
    const title = payload.text('title') || `Watchtower on ${payload.text('host')}`;
    return {
      title: counts.length === 0 ? title : `${title}: ${counts.join(', ')}`,
      lines:
        containers.length > 0 ? containers : log.length > 0 ? log : [[`${formatCount(scanned, 'container')} checked`]],
      type: failed ? 'failure' : payload.list('report.updated').length > 0 ? 'success' : 'info',
    };
  },
};
