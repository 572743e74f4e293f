/** Sample shop exports of made-up products: headers, quoting, line breaks and missing values. */

export const SHOPIFY = [
  'Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,'
    + 'Option2 Name,Option2 Value,Option3 Name,Option3 Value,Variant SKU,Variant Grams,'
    + 'Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,'
    + 'Variant Fulfillment Service,Variant Price,Variant Compare At Price,'
    + 'Variant Requires Shipping,Variant Taxable,Variant Barcode,Image Src,Image Position,'
    + 'Image Alt Text,Gift Card,SEO Title,SEO Description,Variant Image,Variant Weight Unit,'
    + 'Cost per item,Status',
  // Three variants and an image, with a description of several lines.
  'linen-shirt,Linen Shirt,"<p class=""lead"">Woven in Portugal,\n<strong>soft</strong>.</p>\n\n'
    + '<ul>\n<li>100 % linen</li>\n</ul>",Casa Azul,Apparel & Accessories > Clothing > Shirts,'
    + 'Shirts,"linen, summer",true,Size,S,,,,,LS-S,220,shopify,12,deny,manual,59.00,,true,true,'
    + '\'4006381333931,https://cdn.example/1.jpg,1,"Shirt, front",false,,,,kg,21.50,active',
  'linen-shirt,,,,,,,,,M,,,,,LS-M,230,shopify,0,deny,manual,59.00,69.00,true,true,,'
    + 'https://cdn.example/2.jpg,2,,,,,,kg,21.50,',
  'linen-shirt,,,,,,,,,L,,,,,LS-L,240,shopify,3,deny,manual,61.00,,true,true,,,,,,,,,kg,21.50,',
  `linen-shirt,${','.repeat(23)}https://cdn.example/3.jpg,3,${','.repeat(8)}`,
  // Type is blank, but Shopify's category is not.
  'clay-mug,Clay Mug ,<p>By hand.</p>,Terra,Home & Garden > Kitchen & Dining > Mugs,,,true,Title,'
    + 'Default Title,,,,,MUG-1,400,shopify,25,deny,manual,18.50,,true,true,,,,,false,,,,g,6.00,'
    + 'active',
  // Neither a type nor a category, and no SKU.
  'gift-card,Gift Card,,Casa Azul,,,,true,Title,25,,,,,,0,,0,deny,gift_card,25.00,,false,false,,,,,'
    + 'true,,,,kg,,active',
  '',
].join('\n');

export const SHOPIFY_NEW = [
  'Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,'
    + 'Status,SKU,Barcode,Option1 name,Option1 value,Price,Compare-at price,Cost per item,'
    + 'Charge tax,Inventory tracker,Inventory quantity,Continue selling when out of stock,'
    + 'Weight value (grams)',
  'Walking Stick,walking-stick,"<p>Ash,\nsteamed</p>",Terra,Sporting Goods > Hiking,Outdoor,,TRUE,'
    + 'Active,WS-90,,Length,90 cm,34.90,,,TRUE,shopify,8,DENY,600',
  ',walking-stick,,,,,,,,WS-110,,,110 cm,36.90,,,TRUE,shopify,5,DENY,650',
  '',
].join('\r\n');

/** From a shop that uses decimal commas. */
export const WOOCOMMERCE = '\uFEFF' + [
  'ID,Type,SKU,"GTIN, UPC, EAN, or ISBN",Name,Published,"Is featured?","Visibility in catalog",'
    + '"Short description",Description,"Tax status","In stock?",Stock,"Backorders allowed?",'
    + '"Sale price","Regular price",Categories,Tags,Images,Parent,"Attribute 1 name",'
    + '"Attribute 1 value(s)"',
  '11,simple,TEA-100,4006381333931,"Green Tea, loose",1,0,visible,,"<h2>Tea</h2>\\n<p>100 g</p>",'
    + 'taxable,1,140,0,"6,50","7,90","Food > Tea, Gifts",,https://shop.example/t.jpg,,,',
  '12,variable,HOOD,,Hoodie,1,1,visible,,"A\nhoodie.",taxable,1,,0,,,Clothing > Hoodies,,,,Colour,'
    + '"Blue, Red"',
  '13,variation,HOOD-BLUE,,"Hoodie - Blue",1,0,visible,,,taxable,1,4,0,,45,,,,HOOD,Colour,Blue',
  '14,"simple, virtual",\'-LESSON,,"\'=Lesson",1,0,visible,,,none,1,10,0,,"25,00","Art\\, Craft",,'
    + ',,,',
  '15,grouped,SET,,"Tea set",1,0,visible,,,taxable,1,,0,,,Food,,,,,',
  '16,simple,POT,,Teapot,1,0,visible,,,taxable,1,,0,,"19,90",Food,,,,,',
  '',
].join('\n');

export const MAGENTO = [
  'sku,store_view_code,attribute_set_code,product_type,categories,product_websites,name,'
    + 'description,short_description,weight,product_online,tax_class_name,visibility,price,'
    + 'special_price,url_key,created_at,updated_at,additional_attributes,qty,out_of_stock_qty,'
    + 'is_in_stock,configurable_variations',
  '24-MB01,,Bag,simple,"Default Category/Gear,Default Category/Gear/Bags",base,"Duffle Bag",'
    + '"<p>Roomy, with ""pockets"".</p>\n<ul>\n<li>Strap</li>\n</ul>",,,1,"Taxable Goods",'
    + '"Catalog, Search",34.0000,,duffle-bag,"1/8/26, 8:58 AM","1/8/26, 8:58 AM",'
    + '"activity=Gym|Yoga,material=Nylon",100.0000,0.0000,1,',
  '24-MB01,german,Bag,simple,,,Sporttasche,,,,,,,,,sporttasche,,,,,,,',
  'WT09-XS,,Top,virtual,,base,Tank XS,,,1.0000,1,,"Not Visible Individually",22.5000,,wt09-xs,,,'
    + 'size=XS,7.0000,0.0000,1,',
  'WT09,,Top,configurable,"Default Category/Women",base,Tank,,,,1,,"Catalog, Search",22.5000,,wt09,'
    + ',,,0.0000,0.0000,1,"sku=WT09-XS,size=XS|sku=WT09-S,size=S"',
  '',
].join('\n');
