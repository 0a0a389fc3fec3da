import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import type { NotificationType } from '../../../contracts/notify/notification.ts';
import { readJson } from '../exchange.ts';
import { requiredField, secretField, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme } from '../scheme.ts';

const messageTypes: Readonly<Record<NotificationType, string>> = {
  info: 'INFO',
  success: 'RECOVERY',
  warning: 'WARNING',
  failure: 'CRITICAL',
};

const Reply = z.object({
  result: z.literal('failure'),
  messages: z.array(z.string()).optional().catch(undefined),
});

/** `splunk://routing_key@api_key[/entity]`, also `victorops`: incidents of Splunk On-Call; a success resolves one. */
export const splunkKind = defineScheme({
  service: 'Splunk On-Call',
  label: 'splunk',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['splunk', 'victorops'],
  templates: ['{schema}://{routing_key}@{apikey}', '{schema}://{routing_key}@{apikey}/{entity_id}'],
  titleLimit: 250,
  bodyLimit: 20_000,
  normalize: (url) => ({ ...url, scheme: 'splunk' }),
  form: {
    about: m.splunkAbout,
    fields: [
      requiredField(textField('route', m.routingKey, 'user')),
      requiredField(secretField('key', m.apiKey, 'host', m.splunkKeyHelp)),
      textField('entity', m.entity, 'path', m.entityHelp),
    ],
  },
  open({ url }) {
    if (!url.user || url.host === '') return problems.addressIncomplete({ example: 'splunk://routing_key@api_key' });
    const keyPath = [url.host, url.user].map(encodeURIComponent).join('/');
    const address = `https://alert.victorops.com/integrations/generic/20131114/alert/${keyPath}`;
    const entity = url.path.length === 0 ? `${appTitle}/${url.user}` : url.path.join('/');
    return async ({ title, body, type }, { request, fail }) => {
      const alert = {
        entity_id: entity,
        message_type: messageTypes[type],
        entity_display_name: title === '' ? appTitle : title,
        state_message: body,
        monitoring_tool: appTitle,
      };
      const failure = readJson(await request(postJson(address, alert)), Reply);
      return failure === undefined ? undefined : fail(failure.messages?.join('; ') ?? 'no reason');
    };
  },
});
