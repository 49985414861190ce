/** A model's id, which breaks behind a slash if it is too long for a line. */
export function ModelName({ name }: { name: string }) {
  return (
    <>
      {name.split("/").flatMap((part, index) =>
        index === 0 ? [part] : ["/", <wbr key={index} />, part]
      )}
    </>
  );
}
