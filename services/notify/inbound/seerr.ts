import * as m from '#messages/notify-inbound';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { joinTexts, toLines, type InboundAdapter } from './adapter.ts';

function parseType(event: string): NotificationType {
  if (/FAILED|CREATED$/.test(event)) return event === 'ISSUE_CREATED' ? 'warning' : 'failure';
  if (/AVAILABLE|RESOLVED|APPROVED/.test(event)) return 'success';
  return /DECLINED|REOPENED/.test(event) ? 'warning' : 'info';
}

/** Adapter for the default JSON of Overseerr and Jellyseerr: requests and issues. */
export const seerr: InboundAdapter = {
  name: 'Seerr',
  matches: (payload) => payload.has('notification_type') && payload.hasKey('subject'),
  parse(payload) {
    const subject = payload.text('subject');
    const event = payload.text('event') || payload.text('notification_type').toLowerCase().replaceAll('_', ' ');
    const userName = payload.text('request.requestedBy_username') || payload.text('issue.reportedBy_username');
    const extra = payload.list('extra').map((each) => [`${each.text('name')}: ${each.text('value')}`]);
    return {
      title: joinTexts(': ', event, subject),
      lines: [
        ...toLines(payload.lines('message')),
        ...(userName === '' ? [] : [[m.by({ name: userName })]]),
        ...(payload.has('comment.comment_message')
          ? [[`${payload.text('comment.commentedBy_username')}: ${payload.text('comment.comment_message')}`]]
          : []),
        ...extra,
      ],
      type: parseType(payload.text('notification_type')),
    };
  },
};
