import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import type { NotificationType } from '../../../contracts/notify/notification.ts';
import { requiredField, secretField, switchField, textField } from '../fields.ts';
import { postJson, withQuery } from '../http.ts';
import { isYes } from '../options.ts';
import { appTitle, getColor } from '../colors.ts';
import { defineScheme } from '../scheme.ts';
import { hostAndPort } from '../url.ts';

/** Builds an Adaptive Card (https://adaptivecards.io/explorer) in the form that Power Automate forwards to Teams. */
function buildAdaptiveCard(title: string, body: string, wrap: boolean) {
  const heading = { type: 'TextBlock', text: title, style: 'heading', weight: 'Bolder', size: 'Large', id: 'title' };
  const text = { type: 'TextBlock', text: body, style: 'default', wrap, id: 'body' };
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: title === '' ? [text] : [heading, text],
          msteams: { width: 'full' },
        },
      },
    ],
  };
}

/** `workflow://host/workflow_id/signature`: the address of a Power Automate flow that posts to Teams. */
export const workflowKind = defineScheme({
  service: 'Power Automate / Workflows (for MSTeams)',
  label: 'workflow',
  protocols: [],
  secureProtocols: ['workflow', 'workflows'],
  templates: ['{schema}://{host}/{workflow}/{signature}', '{schema}://{host}:{port}/{workflow}/{signature}'],
  args: ['wrap', 'ver', 'pa', 'route'],
  format: 'markdown',
  titleLimit: 250,
  // A request is limited to 28 KB.
  bodyLimit: 20_000,
  unit: 'bytes',
  form: {
    about: m.workflowAbout,
    fixedSegments: 2,
    fields: [
      requiredField(textField('host', m.host, 'host', m.workflowHostHelp)),
      textField('port', m.port, 'port'),
      requiredField(secretField('id', m.workflow, 'segment:0', m.workflowHelp)),
      requiredField(secretField('signature', m.signature, 'segment:1', m.workflowSignatureHelp)),
      switchField('pa', m.newerAddress, 'query:pa', m.newerAddressHelp),
      textField('route', m.route, 'query:route', m.workflowRouteHelp),
    ],
  },
  normalize(url) {
    const query = new Map(url.query);
    for (const [name, other] of [
      ['pa', 'powerautomate'],
      ['route', 'routeid'],
      ['ver', 'api-version'],
    ] as const) {
      const value = query.get(name) ?? query.get(other);
      query.delete(other);
      if (value !== undefined) query.set(name, value);
    }
    return { ...url, scheme: 'workflow', query };
  },
  open({ url, argument }) {
    const [id, signature] = url.path;
    if (id === undefined || signature === undefined)
      return problems.addressIncomplete({ example: 'workflow://host/workflow_id/signature' });
    const route = argument('route');
    if (route !== undefined && !/^\d+$/.test(route)) return problems.argumentNotANumber({ name: 'route' });
    const isAutomate = isYes(argument('pa'), false);
    const pathPrefix = isAutomate
      ? `/powerautomate/automations/direct${route === undefined ? '' : `/cu/${route}`}`
      : '';
    const path = `https://${hostAndPort(url)}${pathPrefix}/workflows/${encodeURIComponent(id)}/triggers/manual/paths/invoke`;
    const version = argument('ver') ?? (isAutomate ? '2022-03-01-preview' : '2016-06-01');
    const address = withQuery(path, { 'api-version': version, sp: '/triggers/manual/run', sv: '1.0', sig: signature });
    const wrap = isYes(argument('wrap'), true);
    return ({ title, body }, { request }) => request(postJson(address, buildAdaptiveCard(title, body, wrap)));
  },
});

/** `msteams://[team@]A/B/C[/D]`: an Office connector; Microsoft has retired them for most organizations. */
export const teamsKind = defineScheme({
  service: 'MSTeams',
  label: 'msteams',
  protocols: [],
  secureProtocols: ['msteams'],
  templates: [
    '{schema}://{team}/{token_a}/{token_b}/{token_c}',
    '{schema}://{team}/{token_a}/{token_b}/{token_c}/{token_d}',
  ],
  format: 'markdown',
  titleLimit: 250,
  // A request is limited to 28 KB.
  bodyLimit: 20_000,
  unit: 'bytes',
  form: {
    about: m.teamsAbout,
    fixedSegments: 4,
    fields: [
      requiredField(textField('team', m.organization, 'host', m.teamsOrganizationHelp)),
      requiredField(secretField('a', m.firstPart, 'segment:0', m.teamsFirstPartHelp)),
      requiredField(secretField('b', m.secondPart, 'segment:1', m.teamsSecondPartHelp)),
      requiredField(secretField('c', m.thirdPart, 'segment:2', m.teamsThirdPartHelp)),
      secretField('d', m.fourthPart, 'segment:3', m.teamsFourthPartHelp),
    ],
  },
  open({ url }) {
    const [a, b, c, d] = url.path;
    if (a === undefined || b === undefined || c === undefined)
      return problems.addressIncomplete({ example: 'msteams://team/A/B/C/D' });
    if (!/^[a-z0-9-]+$/i.test(url.host)) return problems.organizationInvalid();
    const remainingPath = [b, c, ...(d === undefined ? [] : [d])].map(encodeURIComponent).join('/');
    const group = a.split('@').map(encodeURIComponent).join('@');
    const address = `https://${url.host}.webhook.office.com/webhookb2/${group}/IncomingWebhook/${remainingPath}`;
    return async ({ title, body, type }, { request, fail }) => {
      const reply = await request(postJson(address, buildMessageCard(title, body, type)));
      const responseText = Buffer.from(reply.body).toString('utf8');
      // Connectors answer with status 200 even for failures; the actual status is in the text
      // (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
      if (/delivery failed|returned HTTP error/i.test(responseText))
        fail(responseText, /HTTP error (408|429|5\d\d)/i.test(responseText));
    };
  },
});

function buildMessageCard(title: string, body: string, type: NotificationType) {
  return {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    summary: title === '' ? appTitle : title,
    themeColor: getColor(type),
    sections: [{ activityImage: null, activityTitle: title, text: body }],
  };
}
