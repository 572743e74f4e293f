/** The page "Getting started", its progress, and whether the overview shows its steps. */
import { JSON_TYPE } from '../../../api/media-types.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm } from '../forms/fields.ts';
import { type Form, hiddenField } from '../forms/form.ts';
import { card } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { PREFERENCE_LIFE_MS } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';
import { formatCookie } from '../sign-in/cookie.ts';
import { describeCall, HIDDEN, isTourHidden, readTour, renderSteps, TOUR_COOKIE } from './tour.ts';

/** GET /portal/start: 200. Also shows a list that is done or hidden. */
export async function showStart(request: PageRequest, portal: Portal): Promise<Reply> {
  const tour = await readTour(request, portal);
  const done = tour.steps.filter(({ isDone }) => isDone).length;
  return renderPage(request, portal, {
    title: 'Getting started',
    content: html`<p>${done} of ${tour.steps.length} steps are done. The
      <a href="${request.link('/api')}">API reference</a> describes everything that programs can
      do.</p>
      ${card('steps', 'Steps', renderSteps(request, portal, tour))}
      ${isTourHidden(request) && postForm(request, request.link('/start'), html`
        ${hiddenField('tour', 'shown')}<button>Show this list on the overview</button>`, '')}`,
    scripts: ['tour.js'],
  });
}

/** POST /portal/start: 303. Hides the list of the overview in this browser, or shows it. */
export async function switchTour(
  { link }: PageRequest, _portal: Portal, form: Form,
): Promise<Reply> {
  const isHidden = form.get('tour') === HIDDEN;
  return redirect(link('/'), [formatCookie(
    TOUR_COOKIE, isHidden ? HIDDEN : '', isHidden ? PREFERENCE_LIFE_MS : 0,
  )]);
}

/** GET /portal/start/progress: 200. The steps that are done, and what is known, for `tour.js`. */
export async function showProgress(request: PageRequest, portal: Portal): Promise<Reply> {
  const tour = await readTour(request, portal);
  const done = tour.steps.filter(({ isDone }) => isDone).map(({ id }) => id);
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store' },
    body: JSON.stringify({ done, notes: { request: describeCall(request, tour) } }),
  };
}
