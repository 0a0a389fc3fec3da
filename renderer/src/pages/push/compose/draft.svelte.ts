import * as m from '#messages/push-compose';
import { pushApi, type PushUpload, type WrittenAction } from '../../../../../services/contracts/push/api.ts';
import { call } from '../../../api/call.ts';
import { upload } from '../../../api/upload.ts';
import { formatByteLimit, formatBytes } from '../../../parts/text/format.ts';
import { push } from '../../../state/push/topics.svelte.ts';
import type { listPriorities } from '../../../state/push/topic-names.ts';
import { getSuggestedPriority } from '../../../state/push/topic-names.ts';

type PriorityKey = ReturnType<typeof listPriorities>[number][0];

/** A button that is being edited. */
export type ButtonDraft = { -readonly [Name in keyof WrittenAction]: WrittenAction[Name] };

/** A message that is being written, with the upload of its file. */
export class Draft {
  topic = $state('');
  title = $state('');
  message = $state('');
  tags = $state('');
  click = $state('');
  delay = $state('');
  markdown = $state(false);
  attach = $state('');
  filename = $state('');
  file = $state.raw<File | null>(null);
  buttons = $state<ButtonDraft[]>([]);
  /** Progress of the upload from 0 to 1; null while none is running. */
  progress = $state<number | null>(null);
  limits = $state.raw({ message: 4096, file: 0, fileSeconds: 0, delaySeconds: 0 });
  /** The selected priority; before one is selected, the severity of the topic suggests it. */
  #selectedPriority = $state<PriorityKey | null>(null);
  #uploaded: { readonly file: File; readonly upload: PushUpload } | null = null;
  #uploadAbort = new AbortController();

  get priority(): PriorityKey {
    return this.#selectedPriority ?? getSuggestedPriority(this.topic.trim());
  }

  set priority(key: PriorityKey) {
    this.#selectedPriority = key;
  }

  get isSuggested(): boolean {
    return this.#selectedPriority === null && getSuggestedPriority(this.topic.trim()) !== '3';
  }

  /** The message as it is sent, also used for the curl command. */
  readonly written = $derived.by(() => ({
    topic: this.topic.trim(),
    title: this.title,
    message: this.message,
    markdown: this.markdown,
    click: this.click.trim(),
    delay: this.delay.trim(),
    priority: Number(this.priority),
    attach: this.attach.trim(),
    filename: this.filename.trim(),
    file: this.file?.name ?? '',
    tags: this.tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    actions: this.buttons.map((button): WrittenAction => ({
      ...button,
      label: button.label.trim(),
      url: button.url.trim(),
    })),
  }));

  /** Fills in the text that another app shared, which is in the address. */
  fill(query: Readonly<URLSearchParams>): void {
    this.title = query.get('title') ?? this.title;
    this.message = query.get('message') ?? this.message;
  }

  async load(): Promise<void> {
    this.limits = await call(pushApi.limits);
  }

  /** Attaches a file unless it is too large. Returns the reason for a rejection, or an empty text. */
  attachFile(file: File): string {
    const maxBytes = this.limits.file;
    if (maxBytes === 0) return m.filesAreSwitchedOffIn();
    if (file.size > maxBytes)
      return m.nameHasSizeFilesMay({
        name: file.name,
        size: formatBytes(file.size),
        maxBytes: formatByteLimit(maxBytes),
      });
    this.file = file;
    this.filename = '';
    this.attach = '';
    return '';
  }

  /**
   * Uploads the file and publishes the message. Returns the time of delivery in ms.
   * @throws Problem with `fields`.
   */
  async send(): Promise<number> {
    const { written } = this;
    const file = this.file === null ? undefined : await this.#upload(this.file, written.topic);
    const time = await push.publish({ ...written, file });
    this.clear();
    return time;
  }

  /** Cancels the running upload. */
  cancelUpload(): void {
    this.#uploadAbort.abort();
  }

  clear(): void {
    [this.title, this.message, this.tags, this.click, this.delay, this.attach, this.filename] = [
      '',
      '',
      '',
      '',
      '',
      '',
      '',
    ];
    this.file = null;
    this.buttons = [];
    this.markdown = false;
    this.#selectedPriority = null;
    this.#uploaded = null;
  }

  async #upload(file: File, topic: string): Promise<string> {
    // After a validation error the file is not uploaded again.
    if (this.#uploaded?.file === file) return this.#uploaded.upload.id;
    this.#uploadAbort = new AbortController();
    this.progress = 0;
    try {
      const uploaded = await upload(pushApi.upload, file, {
        params: { topic },
        query: { name: file.name },
        progress: (fraction) => (this.progress = fraction),
        signal: this.#uploadAbort.signal,
      });
      this.#uploaded = { file, upload: uploaded };
      return uploaded.id;
    } finally {
      this.progress = null;
    }
  }
}
