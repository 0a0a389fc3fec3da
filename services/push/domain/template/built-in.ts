import { github } from './built-in-github.ts';

/** Message fields as templates; missing ones are taken from the request. */
export interface MessageTemplate {
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  readonly priority?: string | undefined;
}

/** Returns a conditional with texts for a firing alert, a resolved alert and other states. */
function byStatus(firing: string, resolved: string, fallback: string): string {
  const branches = `🚨 ${firing}{{ else if eq .status "resolved" }}✅ ${resolved}{{ else }}⚠️ ${fallback}`;
  return `{{ if eq .status "firing" }}${branches}{{ end }}`;
}

const titleWithDefault = (defaultTitle: string): string => `{{ default "${defaultTitle}" .title }}`;

const grafana: MessageTemplate = {
  title: byStatus(
    titleWithDefault('Alert firing'),
    titleWithDefault('Alert resolved'),
    `Unknown alert: ${titleWithDefault('Alert')}`,
  ),
  message: '{{ default "(no message)" .message | trunc 2000 }}',
};

const alertName =
  '{{ with .alerts }}{{ (first .).labels.alertname }}{{ else }}{{ dig "alertname" "" (default (dict) .groupLabels) }}{{ end }}';

/** Start and end are on one line without separator, as in ntfy. */
const alertText = [
  '',
  'Alert: {{ .labels.alertname }}',
  'Instance: {{ .labels.instance }}',
  'Severity: {{ .labels.severity }}',
  'Starts at: {{ .startsAt }}{{ with .endsAt }}Ends at: {{ . }}{{ end }}',
  '{{ with .annotations }}{{ with .summary }}Summary: {{ . }}\n{{ end }}' +
    '{{ with .description }}Description: {{ . }}\n{{ end }}{{ end }}Source: {{ .generatorURL }}',
  '',
  '',
].join('\n');

const alertmanager: MessageTemplate = {
  title: byStatus(`Alert: ${alertName}`, `Resolved: ${alertName}`, `Unknown alert: ${alertName}`),
  message: `Status: {{ title .status }}\nReceiver: {{ .receiver }}{{ range .alerts }}${alertText}{{ end }}`,
};

/** Built-in templates; a file with the same name takes precedence. */
export const builtInTemplates: ReadonlyMap<string, MessageTemplate> = new Map(
  Object.entries({ grafana, alertmanager, github }),
);
