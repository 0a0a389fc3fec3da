import type { NotificationType } from '../../contracts/notify/notification.ts';
import { joined, linesOf, type Program } from './adapter.ts';

function typeOf(event: string): NotificationType {
  if (/FAILED|CREATED$/.test(event)) return event === 'ISSUE_CREATED' ? 'warning' : 'failure';
  if (/AVAILABLE|RESOLVED|APPROVED/.test(event)) return 'success';
  return /DECLINED|REOPENED/.test(event) ? 'warning' : 'info';
}

/** Overseerr and Jellyseerr in their default JSON: requests, issues and what became of them. */
export const seerr: Program = {
  name: 'Seerr',
  claims: (payload) => payload.has('notification_type') && payload.names('subject'),
  read(payload) {
    const subject = payload.text('subject');
    const event = payload.text('event') || payload.text('notification_type').toLowerCase().replaceAll('_', ' ');
    const by = payload.text('request.requestedBy_username') || payload.text('issue.reportedBy_username');
    const extra = payload.list('extra').map((each) => [`${each.text('name')}: ${each.text('value')}`]);
    return {
      title: joined(': ', event, subject),
      lines: [
        ...linesOf(payload.lines('message')),
        ...(by === '' ? [] : [[`By ${by}`]]),
        ...(payload.has('comment.comment_message')
          ? [[`${payload.text('comment.commentedBy_username')}: ${payload.text('comment.comment_message')}`]]
          : []),
        ...extra,
      ],
      type: typeOf(payload.text('notification_type')),
    };
  },
};
