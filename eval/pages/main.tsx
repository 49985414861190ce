import type { ComponentChildren } from "preact";
import { startApp } from "../../shared/pages/app.tsx";
import { loadWhenIdle } from "../../shared/pages/components/lazy.tsx";
import { Link } from "../../shared/pages/components/link.tsx";
import { TopBar } from "../../shared/pages/components/top_bar.tsx";
import { path } from "../../shared/pages/location.ts";
import { service } from "./api.ts";
import { DeleteDialog } from "./deletion.tsx";
import { setSource } from "./source.ts";
import { LATER_SCRIPTS, VIEWS } from "./views.tsx";

const MENU = Map.groupBy(VIEWS.filter(({ place }) => place), ({ place }) => place!);

setSource(service);
startApp({
  name: "assay-eval",
  views: VIEWS.map(({ place, render, ...view }) => ({
    ...view,
    // What a view holds belongs to its address: at another one everything is new.
    render: (params) =>
      place ? <Frame key={path.value} place={place}>{render(params)}</Frame> : render(params),
  })),
});
loadWhenIdle(LATER_SCRIPTS);

/** What the views under an item of the menu have around them. */
function Frame({ place, children }: { place: string; children: ComponentChildren }) {
  return (
    <>
      <TopBar title="Assay">
        <nav class="places" aria-label="Views">
          {[...MENU].map(([item, [first]]) => (
            <Link
              key={item}
              href={first!.path}
              {...(item === place && { "aria-current": "page" as const })}
            >
              {item}
            </Link>
          ))}
        </nav>
      </TopBar>
      <main id="main" class="page" tabIndex={-1}>
        {children}
        <DeleteDialog />
      </main>
    </>
  );
}
