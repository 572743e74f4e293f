/**
 * Pages with one form, and confirmations. A page declares its fields once; the rendering, the
 * labels of the error summary, the status and the fields that a draft keeps follow from them.
 */
import type { Reply } from '../../../http/response/reply.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { renderPage, renderPublicPage } from '../html/page.ts';
import type { AnonymousPageRequest, DraftRoute, PageRequest, Portal } from '../route.ts';
import { confirmPassword, CURRENT_PASSWORD } from '../sign-in/password-fields.ts';
import { errorSummary, type Field, postForm, renderFields } from './fields.ts';
import { type Form, type FormState, initialState, NO_ERRORS, rejectedState } from './form.ts';

interface FormPage {
  readonly title: string;
  /** The path that the form is posted to, below `/portal`. */
  readonly action: string;
  readonly fields: readonly Field[];
  /** The text of the button. */
  readonly submit: string;
  /** The page of the Cancel link, below `/portal`. */
  readonly cancel?: string;
  readonly before?: Content;
  /** Hidden fields. */
  readonly hidden?: Content;
  readonly after?: Content;
  /** Names of assets. */
  readonly scripts?: readonly string[];
}

/** The page of a form: with the navigation for a signed-in user, without it for anybody else. */
export function renderFormPage(
  request: AnonymousPageRequest | PageRequest, portal: Portal, page: FormPage, state: FormState,
): Reply {
  const { action, fields, hidden, submit, cancel, before, after, title, scripts = [] } = page;
  const { link } = request;
  const isSignedIn = 'account' in request;
  const form = postForm(request, link(action), html`${hidden}${renderFields(fields, state)}
    ${cancel === undefined ? html`<button>${submit}</button>` : html`
      <div class="actions"><button>${submit}</button>
        <a class="button" href="${link(cancel)}">Cancel</a></div>`}`,
  isSignedIn ? 'card stack' : 'stack');
  const content = {
    title, scripts, status: statusOf(state),
    content: html`${errorSummary(state, fields)}${before}${form}${after}`,
  };
  return isSignedIn ? renderPage(request, portal, content)
    : renderPublicPage(request, portal, content);
}

/** The status of a page that shows a form. */
export function statusOf({ errors, detail, status }: FormState): number {
  return status ?? (errors.size > 0 || detail !== undefined ? 422 : 200);
}

interface FormDefinition<Value> {
  /** Their names are those that a draft keeps; the page may show more about them. */
  readonly fields: readonly Field[];
  readonly render: (
    request: PageRequest, portal: Portal, state: FormState,
  ) => Reply | Promise<Reply>;
  /** The values of the form before anybody types. Default: those of its fields. */
  readonly initial?: (request: PageRequest) => Record<string, string>;
  /** Reads the fields. Adds an error for each invalid one, or throws those of the API. */
  readonly read: (
    form: Form, errors: Map<string, string>, request: PageRequest, portal: Portal,
  ) => Value | undefined;
  /** Called if no field is invalid. Returns undefined if it added errors itself. */
  readonly save: (
    value: Value, request: PageRequest, portal: Portal,
    state: { readonly form: Form; readonly errors: Map<string, string> },
  ) => Promise<Reply | undefined>;
}

interface FormHandlers {
  readonly show: (request: PageRequest, portal: Portal) => Promise<Reply>;
  readonly submit: (request: PageRequest, portal: Portal, form: Form) => Promise<Reply>;
  readonly draft: DraftRoute;
}

/**
 * The handlers of a form: its page, its submission and its draft. If one of the fields is
 * `CURRENT_PASSWORD`, nothing is saved without the right one. An invalid form is shown again with
 * its errors.
 */
export function defineForm<Value>(definition: FormDefinition<Value>): FormHandlers {
  const { fields, render, initial, read, save } = definition;
  const needsPassword = fields.some(({ name }) => name === CURRENT_PASSWORD.name);
  return {
    show: async (request, portal) => render(request, portal, initialState(initial?.(request))),
    async submit(request, portal, form) {
      const errors = new Map<string, string>();
      const state = { form, errors };
      try {
        // The cast: there is a value unless there are errors.
        const value = read(form, errors, request, portal) as Value;
        if (needsPassword) await confirmPassword(request, portal, form, errors);
        const reply = errors.size > 0 ? undefined : await save(value, request, portal, state);
        if (reply) return reply;
      } catch (error) {
        const rejected = rejectedState(form, error);
        return render(request, portal, {
          ...rejected, errors: new Map([...rejected.errors, ...errors]),
        });
      }
      return render(request, portal, state);
    },
    draft: makeDraftRoute(fields, render),
  };
}

/** How to show a form again after a new sign-in, with every value except passwords. */
export function makeDraftRoute(
  fields: readonly Field[],
  render: FormDefinition<unknown>['render'],
): DraftRoute {
  const kept = fields.filter((field) => !('type' in field && field.type === 'password'));
  return {
    fields: kept.map(({ name }) => name),
    show: async (request, portal, form) => render(request, portal, { form, errors: NO_ERRORS }),
  };
}

interface Confirmation {
  /** Where the form is posted to, and where Cancel leads: complete paths. */
  readonly action: string;
  readonly cancel: string;
  /** The text of the button. */
  readonly submit: string;
  /** Hidden fields. */
  readonly hidden?: Content;
}

/** The buttons of a page that asks before something is destroyed. */
export function confirmation(
  request: PageRequest, { action, cancel, submit, hidden }: Confirmation,
): Html {
  return postForm(request, action, html`${hidden}<button class="danger">${submit}</button>
    <a class="button" href="${cancel}">Cancel</a>`, 'actions');
}
