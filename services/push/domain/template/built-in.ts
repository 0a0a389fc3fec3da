import { github } from './built-in-github.ts';

/** The texts of a message as templates; an absent one leaves that part to the request. */
export interface MessageTemplate {
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  readonly priority?: string | undefined;
}

/** One text while an alert goes on, one when it is over, one for what else may come. */
function byStatus(firing: string, resolved: string, otherwise: string): string {
  return `{{ if eq .status "firing" }}🚨 ${firing}{{ else if eq .status "resolved" }}✅ ${resolved}{{ else }}⚠️ ${otherwise}{{ end }}`;
}

const titleOr = (words: string): string => `{{ default "${words}" .title }}`;

const grafana: MessageTemplate = {
  title: byStatus(titleOr('Alert firing'), titleOr('Alert resolved'), `Unknown alert: ${titleOr('Alert')}`),
  message: '{{ default "(no message)" .message | trunc 2000 }}',
};

const alertName =
  '{{ with .alerts }}{{ (first .).labels.alertname }}{{ else }}{{ dig "alertname" "" (default (dict) .groupLabels) }}{{ end }}';

/** Start and end stand on one line without a space between, as clients of the peer know it. */
const oneAlert = [
  '',
  'Alert: {{ .labels.alertname }}',
  'Instance: {{ .labels.instance }}',
  'Severity: {{ .labels.severity }}',
  'Starts at: {{ .startsAt }}{{ with .endsAt }}Ends at: {{ . }}{{ end }}',
  '{{ with .annotations }}{{ with .summary }}Summary: {{ . }}\n{{ end }}{{ with .description }}Description: {{ . }}\n{{ end }}{{ end }}Source: {{ .generatorURL }}',
  '',
  '',
].join('\n');

const alertmanager: MessageTemplate = {
  title: byStatus(`Alert: ${alertName}`, `Resolved: ${alertName}`, `Unknown alert: ${alertName}`),
  message: `Status: {{ title .status }}\nReceiver: {{ .receiver }}{{ range .alerts }}${oneAlert}{{ end }}`,
};

/** Templates that are there from the start; a file of the same name takes precedence. */
export const builtIn: ReadonlyMap<string, MessageTemplate> = new Map(Object.entries({ grafana, alertmanager, github }));
