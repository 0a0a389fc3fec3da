import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import type { NotificationType } from '../../../contracts/notify/notification.ts';
import { choiceField, requiredField, secretField, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme } from '../scheme.ts';

const severities: Readonly<Record<NotificationType, string>> = {
  info: 'info',
  success: 'info',
  warning: 'warning',
  failure: 'critical',
};

/** `pagerduty://integration_key@api_key[/source/component]`: an incident for each notification (Events API v2). */
export const pagerDutyKind = defineScheme({
  service: 'Pager Duty',
  label: 'pagerduty',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['pagerduty'],
  templates: ['{schema}://{integrationkey}@{apikey}', '{schema}://{integrationkey}@{apikey}/{source}/{component}'],
  args: ['region', 'source', 'component', 'group', 'class', 'click', 'severity'],
  titleLimit: 0,
  // A longer summary is rejected (https://developer.pagerduty.com/docs/send-alert-event).
  bodyLimit: 1024,
  form: {
    about: m.pagerDutyAbout,
    fields: [
      requiredField(secretField('integration', m.integrationKey, 'user', m.integrationKeyHelp)),
      requiredField(secretField('key', m.apiKey, 'host')),
      choiceField('region', m.region, 'query:region', [
        ['', m.unitedStates],
        ['eu', m.europe],
      ]),
      choiceField('severity', m.severity, 'query:severity', [
        ['', m.byType],
        ...['info', 'warning', 'critical', 'error'].map((each) => [each, each] as const),
      ]),
      textField('group', m.group, 'query:group'),
    ],
  },
  open({ url, argument }) {
    if (!url.user || url.host === '')
      return problems.addressIncomplete({ example: 'pagerduty://integration_key@api_key' });
    const severity = argument('severity')?.toLowerCase();
    if (severity !== undefined && !['info', 'warning', 'critical', 'error'].includes(severity)) {
      return problems.argumentInvalid({ name: 'severity', values: 'info, warning, critical, error' });
    }
    const region = argument('region')?.toLowerCase() === 'eu' ? 'eu.' : '';
    const address = `https://events.${region}pagerduty.com/v2/enqueue`;
    const source = argument('source') ?? url.path[0] ?? appTitle;
    const component = argument('component') ?? url.path[1] ?? 'Notification';
    const optionalFields = ['group', 'class'].flatMap((name) =>
      argument(name) === undefined ? [] : [[name, argument(name)]],
    );
    return ({ id, body, type, link }, { request }) => {
      const click = argument('click') ?? link;
      const event = {
        routing_key: url.user,
        payload: {
          summary: body,
          severity: severity ?? severities[type],
          source,
          component,
          ...Object.fromEntries(optionalFields),
        },
        client: appTitle,
        event_action: 'trigger',
        // Prevents a second incident for a repeated request.
        dedup_key: id,
        ...(click === undefined ? {} : { links: [{ href: click }] }),
      };
      return request(postJson(address, event, { authorization: `Token token=${url.host}` }));
    };
  },
});
